/** The ledger commands as commander has them: flags, what they may be, and their help. */

import {
  InvalidIdentityError,
  type JobIdentity,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { AwsAccessFlags } from "./aws-access.ts";

/** What every ledger command is told. */
export interface LedgerPlace extends AwsAccessFlags {
  /** Of the ledger's table; `LEASEHOLD_LEDGER_TABLE` when absent. */
  readonly table?: string;
  readonly json?: true;
}

/** Which job, in the words of the flags. */
export interface JobFlags {
  readonly tenant: JobIdentity["tenantId"];
  readonly type: JobIdentity["jobType"];
  readonly job: JobIdentity["jobId"];
}

/** Who changes something, and why. */
export interface WordFlags {
  /** The user of this machine when absent. */
  readonly by?: string;
  readonly reason: string;
}

/** What `leasehold ledger` was asked for. */
export type LedgerFlags =
  | (LedgerPlace & JobFlags & { readonly action: "show" })
  | (LedgerPlace & {
      readonly action: "parked";
      readonly tenant?: JobIdentity["tenantId"];
      readonly limit: number;
    })
  | (LedgerPlace &
      JobFlags &
      WordFlags & {
        readonly action: "resolve";
        readonly effect?: string;
        readonly storeFolder?: string;
        readonly storeBucket?: string;
        readonly storePrefix?: string;
        /** The effect happened, with this result; `null` when it has none. */
        readonly done?: { readonly result?: unknown };
        readonly notDone?: true;
      })
  | (LedgerPlace &
      JobFlags &
      WordFlags & {
        readonly action: "cancel";
        /** How long its record is kept. */
        readonly keepDays?: number;
        /** The service, whose contract says how long. */
        readonly target?: string;
      });

type Run = (flags: LedgerFlags) => Promise<void>;
type Refuse = (message: string) => InvalidArgumentError;

const MAX_LISTED = 10_000;
const MAX_WORD_CHARACTERS = 500;
const MAX_DAYS = 3_650;

const RESOLVE_HELP = `
A job is parked when nobody knows whether an effect of it happened. Find out at the provider
("leasehold ledger show" has the key it was sent under), then say so:

  --done '{"paymentId":"pi_7"}'  it happened, and this is the result that the job goes on with
  --done                         it happened, and the job needs no result, or the ledger has it
  --not-done                     it did not happen and will not: the job does it anew

The word is kept with who gave it and why; then the job's message is sent again and the rest of the
job runs. Killed on the way, the same command goes on where it was.`;

/** Adds `ledger` and the commands below it. */
export function addLedger(program: Command, run: Run): void {
  const ledger = program
    .command("ledger")
    .description("jobs in the ledger: look at one, list the parked ones, decide, cancel");
  addPlace(addJob(ledger.command("show")))
    .description("one job: its state, its counts, and every effect of it")
    .action((flags) => run({ action: "show", ...flags }));
  addPlace(ledger.command("parked"))
    .description("the jobs that wait for an operator, the oldest first")
    .option("--tenant <id>", "of this tenant only", identity(parseTenantId))
    .option("--limit <n>", "at most so many", limit, 100)
    .action((flags) => run({ action: "parked", ...flags }));
  addPlace(addWord(addJob(ledger.command("resolve"))))
    .description("say what became of a parked job's effect; the rest of the job runs")
    .option("--effect <name>", "the effect that was looked into; none for a job parked for its age")
    .option("--done [json]", "it has happened, with this result", result)
    .option("--not-done", "it has not happened and will not")
    .addOption(
      new Option(
        "--store-folder <path>",
        "where the worker keeps messages that are too big for a record",
      ).conflicts("storeBucket"),
    )
    .option("--store-bucket <name>", "the same, when it is an S3 bucket")
    .option("--store-prefix <text>", "before every key in the bucket")
    .addHelpText("after", RESOLVE_HELP)
    .action(async (flags, command: Command) => {
      if ((flags.done === undefined) === (flags.notDone === undefined)) {
        const got = flags.done === undefined ? "neither" : "both";
        command.error(`error: give either '--done [json]' or '--not-done', got ${got}`);
      }
      const { done } = flags;
      // Commander says true for an optional value that was left out.
      await run({ action: "resolve", ...flags, ...(done === true && { done: {} }) });
    });
  addPlace(addWord(addJob(ledger.command("cancel"))))
    .description("nothing more of a job is started; what is under way is still recorded")
    .addOption(
      new Option(
        "--target <file>",
        "the service, as in `local`: its contract says how long the record is kept, and the table",
      ).conflicts("keepDays"),
    )
    .option("--keep-days <n>", "how long, without --target (default: 35)", days)
    .action((flags) => run({ action: "cancel", ...flags }));
}

function addPlace(command: Command): Command {
  return command
    .option("--table <name>", "the ledger's table (default: LEASEHOLD_LEDGER_TABLE)")
    .option("--region <name>", "of AWS (default: AWS_REGION)")
    .option("--dynamodb-endpoint <url>", "where DynamoDB is (default: as the AWS variables say)")
    .option("--sqs-endpoint <url>", "where SQS is (default: as the AWS variables say)")
    .option("--json", "one machine-readable line instead of text");
}

function addJob(command: Command): Command {
  return command
    .requiredOption("--tenant <id>", "whose job", identity(parseTenantId))
    .requiredOption("--type <type>", "what kind of job, as payment.capture", identity(parseJobType))
    .requiredOption("--job <id>", "its business identity", identity(parseJobId));
}

function addWord(command: Command): Command {
  return command
    .requiredOption("--reason <text>", "how it is known; kept with the job", word)
    .option("--by <name>", "who says so; kept with the job (default: your user name)", word);
}

function identity<Part>(parse: (text: string) => Part): (text: string) => Part {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof InvalidIdentityError) throw refuse(`${error.message}.`);
      throw error;
    }
  };
}

function word(text: string): string {
  const said = text.trim();
  if (said !== "" && said.length <= MAX_WORD_CHARACTERS && !/\p{Cc}/u.test(said)) return said;
  throw refuse(`Give one line of 1 to ${MAX_WORD_CHARACTERS} characters.`);
}

function result(text: string): { readonly result: unknown } {
  try {
    return { result: JSON.parse(text) };
  } catch (error) {
    throw refuse(
      `It is no JSON (${(error as Error).message}): write --done '{"paymentId":"pi_7"}', ` +
        "or --done alone when the job needs no result.",
    );
  }
}

function limit(text: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= MAX_LISTED) return value;
  throw refuse(`Give a whole number between 1 and ${MAX_LISTED}.`);
}

function days(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= MAX_DAYS) return value;
  throw refuse(`Give a whole number between 1 and ${MAX_DAYS}.`);
}

const refuse: Refuse = (message) => new InvalidArgumentError(message);
