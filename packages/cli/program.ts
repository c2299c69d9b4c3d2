/** The command line as commander has it: commands, flags, their ranges and their help. */

import { type PresetName, presets } from "@leasehold/deployment-contract";
import { type AwsMode, type FaultRule, faultSyntax, readFaultRules } from "@leasehold/local-aws";
import { Command, InvalidArgumentError, Option } from "commander";
import { addDrill, type DrillFlags } from "./drill-flags.ts";
import { addLedger, type LedgerFlags } from "./ledger-flags.ts";

/** What `leasehold local` was asked for. */
export interface LocalFlags {
  readonly target: string;
  readonly jobs?: number;
  readonly exitWhenIdle?: true;
  readonly aws: AwsMode;
  readonly data?: string;
  readonly renderMs?: number;
  readonly preset?: PresetName;
  readonly port?: number;
  readonly seed?: number;
  readonly faults?: readonly FaultRule[];
  readonly json?: true;
}

/** What `leasehold aws` was asked for. */
export interface AwsFlags {
  readonly sqsPort: number;
  readonly dynamodbPort: number;
  readonly data?: string;
  readonly faults?: readonly FaultRule[];
  readonly seed?: number;
  readonly json?: true;
}

/** What each command does with its flags. */
export interface Commands {
  local(flags: LocalFlags): Promise<void>;
  aws(flags: AwsFlags): Promise<void>;
  drill(flags: DrillFlags): Promise<void>;
  ledger(flags: LedgerFlags): Promise<void>;
}

const MAX_PORT = 65_535;
const MAX_JOBS = 1_000_000;
const MAX_SEED = 2 ** 31 - 1;
const MAX_RENDER_MS = 43_200_000;

/** The program; it parses, checks and calls, and never ends the process by itself. */
export function createProgram(commands: Commands, version: string): Command {
  const program = new Command("leasehold")
    .description("SQS jobs that are leased, not owned")
    .version(version)
    .exitOverride();
  addLocal(program, commands);
  addAws(program, commands);
  addDrill(program, (flags) => commands.drill(flags));
  addLedger(program, (flags) => commands.ledger(flags));
  return program;
}

function addLocal(program: Command, commands: Commands): void {
  const range = (min: number, max: number) => ({ min, max });
  program
    .command("local")
    .description("AWS on this machine, a worker in it, jobs to work on; Ctrl-C drains the worker")
    .requiredOption("--target <file>", "the service to run: a file that exports `target`")
    .option(
      "--jobs <n>",
      "send this many jobs; without it a few every second",
      whole(range(0, MAX_JOBS)),
    )
    .option("--exit-when-idle", "end when all jobs were sent and the queues are empty")
    .addOption(awsOption())
    .option("--data <folder>", "keep queues, tables and receipts here, and go on with them")
    .option(
      "--render-ms <ms>",
      "make each render take at least this long",
      whole(range(0, MAX_RENDER_MS)),
    )
    .addOption(
      new Option("--preset <name>", "numbers of the deployment").choices(Object.keys(presets)),
    )
    .option(
      "--port <port>",
      "of the worker's admin server (default: a free one)",
      whole(range(0, MAX_PORT)),
    )
    .option(
      "--seed <n>",
      "make the same jobs again, and the same faults (default: others each time)",
      whole(range(0, MAX_SEED)),
    )
    .addOption(faultsOption("between the worker and AWS"))
    .option("--json", "machine-readable lines only, the last one is run.summary")
    .addHelpText("after", `\n${faultSyntax}`)
    .action(async (flags: LocalFlags, command: Command) => {
      if (flags.faults !== undefined && flags.aws === "endpoint") {
        command.error(
          "error: option '--faults <list>' needs '--aws embedded': only AWS in this process can be " +
            "put behind them",
        );
      }
      if (flags.exitWhenIdle && flags.jobs === undefined) {
        command.error(
          "error: option '--exit-when-idle' needs '--jobs <n>': without it jobs are sent until " +
            "Ctrl-C; '--jobs 0' works off what a --data folder holds",
        );
      }
      await commands.local(flags);
    });
}

function addAws(program: Command, commands: Commands): void {
  const port = whole({ min: 0, max: MAX_PORT });
  program
    .command("aws")
    .description("SQS and DynamoDB on this machine, for any program, until Ctrl-C")
    .option("--sqs-port <port>", "of the SQS endpoint, 0 for a free one", port, 4566)
    .option("--dynamodb-port <port>", "of the DynamoDB endpoint, 0 for a free one", port, 8000)
    .option("--data <folder>", "keep queues and tables here (default: in memory)")
    .addOption(faultsOption("on the way to it"))
    .option(
      "--seed <n>",
      "of the chance of faults: the same again (default: others each time)",
      whole({ min: 0, max: MAX_SEED }),
    )
    .option("--json", "one machine-readable line instead of text")
    .addHelpText("after", `\n${faultSyntax}`)
    .action(async (flags: AwsFlags, command: Command) => {
      if (flags.seed !== undefined && flags.faults === undefined) {
        command.error(
          "error: option '--seed <n>' needs '--faults <list>': there is no other chance here",
        );
      }
      await commands.aws(flags);
    });
}

function faultsOption(where: string): Option {
  return new Option(
    "--faults <list>",
    `let go wrong ${where}, as in ReceiveMessage:throttle:0.1`,
  ).argParser(faults);
}

function faults(text: string): readonly FaultRule[] {
  try {
    return readFaultRules(text);
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}

function awsOption(): Option {
  return new Option("--aws <where>", "AWS in this process, or at AWS_ENDPOINT_URL")
    .choices(["embedded", "endpoint"] satisfies AwsMode[])
    .default("embedded");
}

function whole({ min, max }: { readonly min: number; readonly max: number }) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Give a whole number between ${min} and ${max}.`);
  };
}
