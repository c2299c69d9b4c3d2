/** local: AWS on this machine, a worker in it, and jobs to work on. */

import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import { createProducer } from "@leasehold/producer";
import type { CommandHost } from "./command-host.ts";
import { ChangeBell, EmbeddedWatch, EndpointWatch, type QueueWatch } from "./idle-watch.ts";
import { loadLocalTarget } from "./load-target.ts";
import type { Companion, LocalTarget } from "./local-target.ts";
import type { LocalFlags } from "./program.ts";
import { Session, type SessionEnd } from "./session.ts";
import { openSessionFolder, type SessionFolder } from "./session-folder.ts";
import { SessionView } from "./session-view.ts";

const MAX_SEED = 2 ** 31 - 1;

/** One session from here on. */
interface LocalRun {
  readonly flags: LocalFlags;
  readonly host: CommandHost;
  readonly target: LocalTarget;
  readonly contract: ReturnType<LocalTarget["contract"]>;
  readonly folder: SessionFolder;
  readonly aws: LocalAws;
  readonly bell: ChangeBell;
  readonly companion: Companion | undefined;
  /** Of the jobs, and of the faults. */
  readonly seed: number;
}

/** Runs a session and returns its exit code: the worker's own. */
export async function runLocal(flags: LocalFlags, host: CommandHost): Promise<number> {
  const target = await loadLocalTarget(flags.target);
  const contract = target.contract(flags.preset);
  const folder = await openSessionFolder(flags.data);
  const bell = new ChangeBell();
  const seed = flags.seed ?? randomInt(MAX_SEED);
  const aws = await startAws({ flags, host, folder, bell, seed });
  let companion: Companion | undefined;
  try {
    companion = await target.startCompanion?.({ folder: folder.path });
    return await runIn({ flags, host, target, contract, folder, aws, bell, companion, seed });
  } finally {
    // The worker has ended: nobody asks any more.
    await companion?.close();
    await aws.close();
  }
}

function startAws(
  run: Omit<LocalRun, "target" | "contract" | "aws" | "companion">,
): Promise<LocalAws> {
  const { flags, host, folder, bell, seed } = run;
  if (flags.aws === "endpoint") {
    return startLocalAws({ mode: "endpoint", environment: host.environment });
  }
  return startLocalAws({
    mode: "embedded",
    clock: host.clock,
    onSqsRequest: () => bell.ring(),
    ...(folder.isKept ? { folder: folder.path } : {}),
    ...(flags.faults === undefined ? {} : { faults: { rules: flags.faults, seed } }),
  });
}

async function runIn(run: LocalRun): Promise<number> {
  const { flags, host, target, contract, folder, aws, companion } = run;
  const { clock, output, presses } = host;
  const { queueUrls } = await provision({ contract, tables: target.tables, clients: aws, clock });
  if (presses.stopped.aborted) return 0;
  const adminPort = flags.port ?? (await findFreePort());
  const view = new SessionView(output);
  view.open(`${target.name} on this machine, preset ${contract.preset}`, describe(run, adminPort));
  output.record({
    event: "session.started",
    target: target.name,
    preset: contract.preset,
    aws: aws.mode,
    sqs_endpoint: aws.sqsEndpoint,
    dynamodb_endpoint: aws.dynamodbEndpoint,
    data_folder: folder.path,
    receipts_folder: folder.receipts,
    admin_port: adminPort,
    ...(companion === undefined ? {} : { [`${companion.name}_endpoint`]: companion.endpoint }),
  });
  const own = target.environment({
    folder: folder.path,
    receiptsFolder: folder.receipts,
    adminPort,
    logLevel: "debug",
    ...(flags.preset === undefined ? {} : { preset: flags.preset }),
    ...(flags.renderMs === undefined ? {} : { renderMs: flags.renderMs }),
  });
  const urls = contract.queues.map(({ name }) => queueUrls[name] ?? "");
  const session = new Session({
    worker: {
      command: target.command,
      environment: {
        ...host.environment,
        ...own,
        ...companion?.environment,
        ...aws.environment,
      },
    },
    feed: {
      target,
      producer: createProducer({ client: aws.sqs, queueUrl: urls[0] ?? "", clock }),
      seed: run.seed,
      ...(flags.jobs === undefined ? {} : { jobs: flags.jobs }),
    },
    watch: watchQueues(run, urls),
    exitWhenIdle: flags.exitWhenIdle === true,
    receiptsFolder: folder.receipts,
    ...{ clock, output, presses, view },
  });
  return conclude(run, await session.run());
}

function watchQueues({ contract, aws, bell, host }: LocalRun, urls: readonly string[]): QueueWatch {
  const names = contract.queues.map(({ name }) => name);
  if (aws.embedded !== undefined) return new EmbeddedWatch(aws.embedded, names, bell);
  return new EndpointWatch(aws.sqs, urls, host.clock);
}

function describe(
  { aws, companion, folder, flags, seed }: LocalRun,
  adminPort: number,
): readonly (readonly [string, string])[] {
  const kept = whatIsKept(aws.mode, folder);
  const stop = flags.exitWhenIdle ? "when all jobs are done, or Ctrl-C" : "Ctrl-C";
  return [
    ["sqs", `${aws.sqsEndpoint} (${aws.mode})`],
    ["dynamodb", `${aws.dynamodbEndpoint} (${aws.mode})`],
    ...(flags.faults === undefined
      ? []
      : [["faults", `on the worker's way to both; again with --seed ${seed}`] as const]),
    ...(companion === undefined ? [] : [[companion.name, companion.endpoint] as const]),
    ["data", `${folder.path} (${kept})`],
    ["receipts", folder.receipts],
    ...(adminPort === 0 ? [] : [["status", `http://127.0.0.1:${adminPort}/status`] as const]),
    ["stop", `${stop}; once drains, again hurries`],
  ];
}

function whatIsKept(mode: LocalAws["mode"], { isKept }: SessionFolder): string {
  if (mode === "endpoint") return "queues and tables are at the endpoint, and stay there";
  if (isKept) return "a stopped session goes on from here";
  return "queues and tables are in memory; --data keeps them";
}

/** Says how it ended; the summary is the last line for machines. */
function conclude({ host: { output }, folder }: LocalRun, end: SessionEnd): number {
  const { worker, wasAsked, sent, unsent, receipts, tally } = end;
  const exitCode = worker.exitCode === 0 && unsent > 0 ? 1 : worker.exitCode;
  if (worker.signal !== undefined) {
    output.warn(`the worker was ended by ${worker.signal}: its leases run out by themselves`);
  } else if (!wasAsked) {
    output.warn(
      `the worker ended by itself with exit code ${worker.exitCode}: see the lines above`,
    );
  }
  if (unsent > 0) output.warn(`jobs that could not be sent: ${unsent}`);
  output.say(`receipts: ${receipts} in ${folder.receipts}`);
  output.record({
    event: "run.summary",
    sent,
    acked: tally.acked,
    released: tally.released,
    dead_lettered: tally.deadLettered,
    leases_lost: tally.lost,
    extended: tally.extended,
    receipts,
    exit_code: exitCode,
  });
  return exitCode;
}

/** Known before the worker listens on it, so that it can be shown at once. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
