/** The flags of `leasehold drill`. */

import { type PresetName, presets } from "@leasehold/deployment-contract";
import type { AwsMode } from "@leasehold/local-aws";
import { type Command, InvalidArgumentError, Option } from "commander";

/** What `leasehold drill` was asked for. */
export interface DrillFlags {
  readonly target?: string;
  readonly only?: string;
  readonly list?: true;
  readonly all?: true;
  readonly preset?: PresetName;
  readonly aws: AwsMode;
  /** The worker as program and arguments, in place of the target's own. */
  readonly command?: readonly [program: string, ...args: string[]];
  readonly times: number;
  /** Where the report goes as JSON, and as a page. */
  readonly json?: string;
  readonly html?: string;
}

const MOST_TIMES = 1_000;

/** Adds the command. */
export function addDrill(program: Command, run: (flags: DrillFlags) => Promise<void>): void {
  program
    .command("drill")
    .description("real signals to real workers of a service; every promise of a drain is judged")
    .option("--target <file>", "the service: a file that exports `target`")
    .option("--all", "every scenario that the service fits")
    .option("--only <name>", "the scenarios with this in their name")
    .option("--list", "say what the scenarios are")
    .addOption(
      new Option("--preset <name>", "numbers of the deployment").choices(Object.keys(presets)),
    )
    .addOption(
      new Option("--aws <where>", "AWS in this process, or at AWS_ENDPOINT_URL (http only)")
        .choices(["embedded", "endpoint"] satisfies AwsMode[])
        .default("embedded"),
    )
    .option(
      "--command <command>",
      "how a worker is started, as 'node worker.js' (default: the target's)",
      words,
    )
    .option("--times <n>", "play each so often", times, 1)
    .option("--json <file>", "write the report as JSON")
    .option("--html <file>", "write the report as a page, with a timeline of each scenario")
    .action(async (flags: DrillFlags, command: Command) => {
      if (flags.list !== true && flags.target === undefined) {
        command.error("error: option '--target <file>' is missing: which service is drilled?");
      }
      if (flags.list !== true && flags.all !== true && flags.only === undefined) {
        command.error("error: give '--all', '--only <name>' or '--list'");
      }
      await run(flags);
    });
}

/** As a shell would split it, but no shell is there to swallow signals. */
function words(text: string): readonly [program: string, ...args: string[]] {
  const found = text.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const [program, ...args] = found.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  if (program !== undefined && program !== "") return [program, ...args];
  throw new InvalidArgumentError("Give a program and its arguments, as in 'node worker.js'.");
}

function times(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MOST_TIMES) return value;
  throw new InvalidArgumentError(`Give a whole number between 1 and ${MOST_TIMES}.`);
}
