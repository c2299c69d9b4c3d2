/** ledger: shows one job, lists parked ones, resolves an unknown outcome, cancels a job. */

import { userInfo } from "node:os";
import {
  cancelJob,
  DynamodbLedgerStore,
  type JobRecord,
  type LedgerStore,
  ParkedJobs,
  type ResultStore,
  StoreUnavailableError,
} from "@leasehold/idempotency";
import type { JobIdentity, MessageCopy } from "@leasehold/job";
import { type AwsAccess, openAws } from "./aws-access.ts";
import type { CommandHost } from "./command-host.ts";
import { CommandMisusedError, LedgerCommandError } from "./errors.ts";
import { recordFields } from "./ledger-fields.ts";
import type { JobFlags, LedgerFlags, WordFlags } from "./ledger-flags.ts";
import { parkedLines, recordLines, showIdentity } from "./ledger-text.ts";
import { loadLocalTarget } from "./load-target.ts";
import { openMessageStore } from "./message-store.ts";
import { sendStoredMessage } from "./stored-message.ts";

/** As a contract keeps the record of a job that has ended, unless it says otherwise. */
const RETENTION_DAYS = 35;
const DAY_MS = 24 * 60 * 60 * 1_000;
const PAGE = 500;
/** The index is in order for each tenant alone; all tenants are put in order here. */
const MOST_READ = 10_000;

type FlagsOf<Action extends LedgerFlags["action"]> = Extract<
  LedgerFlags,
  { readonly action: Action }
>;

/** What a ledger command works with. */
export interface LedgerDesk {
  readonly store: LedgerStore;
  readonly send: (message: MessageCopy) => Promise<void>;
  /** Where messages lie that were too big for a record. */
  readonly results?: ResultStore;
  /** How long the contract keeps the record of a job that has ended. */
  readonly retentionMs?: number;
  readonly host: Pick<CommandHost, "clock" | "output">;
  /** Name of whoever sits here. */
  readonly user: () => string;
}

/** Runs one ledger command and returns its exit code. */
export async function runLedger(flags: LedgerFlags, host: CommandHost): Promise<number> {
  const contract = await contractOf(flags);
  const tableName =
    flags.table ?? contract?.tableName ?? host.environment["LEASEHOLD_LEDGER_TABLE"] ?? "";
  if (tableName === "") {
    throw new CommandMisusedError(
      "no table is named: give --table or set LEASEHOLD_LEDGER_TABLE, for example to " +
        "billing-worker-ledger",
    );
  }
  const aws = openAws(flags, host.environment);
  try {
    const store = new DynamodbLedgerStore({ client: aws.dynamodb, tableName, clock: host.clock });
    const send = (message: MessageCopy) => sendStoredMessage(aws.sqs, aws.sqsPlace, message);
    const results = flags.action === "resolve" ? await openMessageStore(flags, aws) : undefined;
    const { retentionMs } = contract ?? {};
    return await serveLedger(flags, {
      ...{ store, send, host, user: userName },
      ...(results !== undefined && { results }),
      ...(retentionMs !== undefined && { retentionMs }),
    });
  } catch (error) {
    throw explain(error, tableName, aws);
  } finally {
    aws.close();
  }
}

/** What the service's contract says of its ledger, where a service is named. */
async function contractOf(
  flags: LedgerFlags,
): Promise<{ readonly tableName: string; readonly retentionMs: number } | undefined> {
  if (flags.action !== "cancel" || flags.target === undefined) return undefined;
  const { contract, name } = await loadLocalTarget(flags.target);
  const { ledger } = contract();
  if (ledger.kind === "dynamodb") {
    return { tableName: ledger.tableName, retentionMs: ledger.doneRetentionMs };
  }
  throw new CommandMisusedError(
    `${name} has no ledger in DynamoDB, its contract's ledger.kind is ${ledger.kind}: ` +
      "name another --target",
  );
}

/** The command itself, whatever the ledger is kept in. */
export async function serveLedger(flags: LedgerFlags, desk: LedgerDesk): Promise<number> {
  switch (flags.action) {
    case "show":
      return await show(flags, desk);
    case "parked":
      return await listParked(flags, desk);
    case "resolve":
      return await resolve(flags, desk);
    case "cancel":
      return await cancel(flags, desk);
  }
}

async function show(flags: FlagsOf<"show">, { store, host }: LedgerDesk): Promise<number> {
  const { clock, output } = host;
  const record = await store.read(identityOf(flags));
  if (record === undefined) throw unknownJob(flags);
  for (const line of recordLines(record, clock.wallMs())) output.say(line);
  output.record({ event: "ledger.job", ...recordFields(record) });
  return 0;
}

async function listParked(flags: FlagsOf<"parked">, { store, host }: LedgerDesk): Promise<number> {
  const { clock, output } = host;
  const found = await readParked(store, flags.tenant);
  const shown = found.slice(0, flags.limit);
  for (const record of shown) {
    for (const line of parkedLines(record, clock.wallMs())) output.say(line);
  }
  const more = found.length > shown.length ? `, the oldest ${shown.length} shown` : "";
  const whole = found.length < MOST_READ ? `${found.length}` : `at least ${found.length}`;
  output.say(found.length === 0 ? "no job is parked" : `parked jobs: ${whole}${more}`);
  output.record({
    event: "ledger.parked",
    count: found.length,
    is_whole: found.length < MOST_READ,
    jobs: shown.map(recordFields),
  });
  return 0;
}

async function readParked(
  store: LedgerStore,
  tenantId: string | undefined,
): Promise<readonly JobRecord[]> {
  const found: JobRecord[] = [];
  let after: string | undefined;
  do {
    const { records, next } = await store.listParked({
      limit: PAGE,
      ...(tenantId === undefined ? {} : { tenantId }),
      ...(after === undefined ? {} : { after }),
    });
    found.push(...records);
    after = next;
  } while (after !== undefined && found.length < MOST_READ);
  return found.sort((left, right) => (left.parked?.atMs ?? 0) - (right.parked?.atMs ?? 0));
}

async function resolve(flags: FlagsOf<"resolve">, desk: LedgerDesk): Promise<number> {
  const { store, send, host, results } = desk;
  const { done, reason, effect } = flags;
  const { clock } = host;
  const jobs = new ParkedJobs({ store, send, clock, ...(results !== undefined && { results }) });
  const verdict =
    done === undefined ? ({ kind: "not-done" } as const) : { kind: "done" as const, ...done };
  const by = byWhom(flags, desk);
  const word = { by, reason, ...(effect === undefined ? {} : { effect }) };
  const { kind } = await jobs.resolve(identityOf(flags), verdict, word);
  const job = showIdentity(identityOf(flags));
  host.output.say(
    kind === "finished"
      ? `${job}: done; nothing of it is left to run`
      : `${job}: ${verdict.kind}, kept as the word of ${by}; its message is sent again`,
  );
  host.output.record({
    event: "ledger.resolved",
    ...names(flags),
    verdict: verdict.kind,
    by,
    outcome: kind,
  });
  return 0;
}

async function cancel(flags: FlagsOf<"cancel">, desk: LedgerDesk): Promise<number> {
  const { store, host } = desk;
  const job = identityOf(flags);
  const by = byWhom(flags, desk);
  const isKnown = (await store.read(job)) !== undefined;
  const retentionMs = desk.retentionMs ?? (flags.keepDays ?? RETENTION_DAYS) * DAY_MS;
  const parts = { store, clock: host.clock, retentionMs };
  const cancelled = await cancelJob(parts, job, `${by}: ${flags.reason}`);
  const open = cancelled.kind === "cancelled" ? cancelled.openEffects : [];
  const { output } = host;
  if (cancelled.kind === "done") {
    throw new LedgerCommandError(`${showIdentity(job)} is done: there is nothing to cancel`);
  }
  output.say(`${showIdentity(job)}: cancelled, kept as the word of ${by}`);
  if (!isKnown) {
    output.say("it was not in the ledger: a delivery of it is acked and nothing of it is started");
  }
  if (open.length > 0) {
    output.say(`may have happened all the same: ${open.join(", ")}; look at the provider`);
  }
  output.record({
    event: "ledger.cancelled",
    ...names(flags),
    by,
    was_known: isKnown,
    open_effects: open,
  });
  return 0;
}

function identityOf({ tenant, type, job }: JobFlags): JobIdentity {
  return { tenantId: tenant, jobType: type, jobId: job };
}

function names({ tenant, type, job }: JobFlags) {
  return { tenant_id: tenant, job_type: type, job_id: job };
}

function byWhom({ by }: WordFlags, { user }: LedgerDesk): string {
  return by ?? user();
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new CommandMisusedError("the system does not say who you are: give --by", { cause });
  }
}

function unknownJob(flags: JobFlags): LedgerCommandError {
  return new LedgerCommandError(
    `the ledger has no ${showIdentity(identityOf(flags))}: look at the tenant, the type and the ` +
      "id. A job without effects that succeeded at once is never written there",
  );
}

/** What the store says to the worker is too little for a person. */
function explain(error: unknown, tableName: string, { dynamodbPlace }: AwsAccess): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  const { name = "", message = "" } = error.cause instanceof Error ? error.cause : {};
  if (name === "CredentialsProviderError") {
    return new CommandMisusedError(
      `there are no credentials for ${dynamodbPlace} (${message}): set AWS_PROFILE, or ` +
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; an endpoint on this machine takes any",
      { cause: error },
    );
  }
  const why =
    name === "ResourceNotFoundException"
      ? `there is no table ${tableName}, or it has no index of parked jobs: give --table, and ` +
        "--region or --dynamodb-endpoint for where it is"
      : `table ${tableName} could not be reached (${message || codeOf(error.cause) || name}): check ` +
        "endpoint, region and credentials";
  return new LedgerCommandError(`at ${dynamodbPlace} ${why}`, { cause: error });
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | undefined)?.code ?? "");
}
