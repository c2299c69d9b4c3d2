/** The flags of `leasehold drill`. */

import { type PresetName, presets } from "@leasehold/deployment-contract";
import { type Command, InvalidArgumentError, Option } from "commander";

/** What `leasehold drill` was asked for. */
export interface DrillFlags {
  readonly target?: string;
  readonly only?: string;
  readonly list?: true;
  readonly all?: true;
  readonly preset?: PresetName;
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

function times(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MOST_TIMES) return value;
  throw new InvalidArgumentError(`Give a whole number between 1 and ${MOST_TIMES}.`);
}
