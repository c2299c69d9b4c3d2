/** aws: SQS and DynamoDB on this machine, for any program, until a signal ends them. */

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { startLocalAws } from "@leasehold/local-aws";
import type { CommandHost } from "./command-host.ts";
import type { AwsFlags } from "./program.ts";

const MAX_SEED = 2 ** 31 - 1;

/** Runs until the first signal, then stops and returns the exit code. */
export async function runAws(flags: AwsFlags, host: CommandHost): Promise<number> {
  const { output, presses, clock } = host;
  const { faults: rules, seed = randomInt(MAX_SEED) } = flags;
  const aws = await startLocalAws({
    mode: "embedded",
    clock,
    sqsPort: flags.sqsPort,
    dynamodbPort: flags.dynamodbPort,
    ...(flags.data === undefined ? {} : { folder: flags.data }),
    ...(rules === undefined ? {} : { faults: { rules, seed } }),
  });
  try {
    const variables = Object.entries(aws.environment);
    const kept = flags.data === undefined ? "in memory" : `in ${flags.data}`;
    output.say(`SQS and DynamoDB, kept ${kept}; Ctrl-C ends them. For other programs:`);
    if (rules !== undefined) output.say(`Faults are on their way there, with --seed ${seed}`);
    for (const [name, value] of variables) {
      output.say(value === undefined ? `unset ${name}` : `export ${name}=${value}`);
    }
    output.record({
      event: "aws.ready",
      ...(rules === undefined ? {} : { faults: rules.length, seed }),
      environment: Object.fromEntries(variables.filter(([, value]) => value !== undefined)),
      unset: variables.filter(([, value]) => value === undefined).map(([name]) => name),
    });
    if (!presses.stopped.aborted) await once(presses.stopped, "abort");
    output.say("stopping");
  } finally {
    await aws.close();
  }
  return 0;
}
