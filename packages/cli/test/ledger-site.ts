/** A ledger and a queue as a worker leaves them, and the ledger command to look at them. */

import { Writable } from "node:stream";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { ManualClock } from "@leasehold/clock/manual";
import { defineContract } from "@leasehold/deployment-contract";
import { createLedger, DynamodbLedgerStore, type ResultStore } from "@leasehold/idempotency";
import {
  type JobIdentity,
  type JobOpening,
  type MessageCopy,
  type OpenJob,
  type OpenRequest,
  park,
  parseJobId,
  parseJobType,
  parseTenantId,
  writeEnvelope,
} from "@leasehold/job";
import { provision, startLocalAws } from "@leasehold/local-aws";
import { onTestFinished } from "vitest";
import type { CommandHost } from "../command-host.ts";
import { type LedgerDesk, runLedger, serveLedger } from "../ledger-command.ts";
import { Output } from "../output.ts";
import { createProgram } from "../program.ts";
import { SignalPresses } from "../signal-presses.ts";
import { sendStoredMessage } from "../stored-message.ts";

const HOUR_MS = 3_600_000;
const QUEUE = "mails";
export const TABLE = "mailer-ledger";

export function identity(jobId: string, tenantId = "acme"): JobIdentity {
  return {
    tenantId: parseTenantId(tenantId),
    jobType: parseJobType("payment.capture"),
    jobId: parseJobId(jobId),
  };
}

/** What one command came to. */
export interface Ran {
  readonly exitCode?: number;
  readonly text: string;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** @param results - where messages go that are too big for a record; then each of them is */
export async function startLedgerSite({ results }: { readonly results?: ResultStore } = {}) {
  const clock = new ManualClock();
  const aws = await startLocalAws({ mode: "embedded" });
  onTestFinished(() => aws.close());
  const contract = defineContract({
    ...{ service: "mailer", preset: "default-30", queues: [{ name: QUEUE }] },
    ledger: { kind: "dynamodb" },
  });
  const { queueUrls } = await provision({ contract, clients: aws });
  const store = new DynamodbLedgerStore({ client: aws.dynamodb, tableName: TABLE, clock });
  let workers = 0;
  const open = async (request: Partial<OpenRequest> & { readonly job: JobIdentity }) => {
    workers += 1;
    const ledger = createLedger({
      ...{ store, clock, environment: "test", workerId: `w-${workers}` },
      ...(results !== undefined && { results, options: { parkedMessageBytes: 10 } }),
    });
    return await ledger.open({
      ...{ messageId: "m-1", receiveCount: 1 },
      surroundings: surroundings(clock, request.job),
      ...request,
    });
  };
  /** A job whose charge nobody knows the outcome of. */
  const parkJob = async (jobId: string, tenantId?: string) => {
    const job = identity(jobId, tenantId);
    const first = openJob(await open({ job }));
    await first.once(
      "before",
      1,
      effect(() => 1),
    );
    await refused(first.once("charge", 7, effect(hangUp)));
    await first.end({ kind: "failed" });
    await clock.advance(HOUR_MS);
    const second = openJob(await open({ job, receiveCount: 2 }));
    await refused(second.once("charge", 7, effect(hangUp)));
    return job;
  };
  /** The job as the message that was sent again has it. */
  const openAgain = async (job: JobIdentity) =>
    openJob(await open({ job, messageId: "m-2", guard: true }));
  const received = async () => {
    const command = new ReceiveMessageCommand({
      ...{
        QueueUrl: queueUrls[QUEUE],
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 0,
        MessageAttributeNames: ["All"],
      },
      MessageSystemAttributeNames: ["All"],
    });
    return (await aws.sqs.send(command)).Messages ?? [];
  };
  const host = (json: boolean) => {
    const printed: string[] = [];
    const stream = () =>
      new Writable({ write: (chunk, _, done) => done(void printed.push(String(chunk))) });
    const output = new Output({ stdout: stream(), stderr: stream(), json });
    const presses = new SignalPresses(clock);
    return { printed, host: { clock, output, presses, environment: aws.environment } };
  };
  /** Runs a command line, by the clients that it makes for itself or by a desk of the test's own. */
  const run = async (
    line: readonly string[],
    { environment = {}, desk }: RunOptions = {},
  ): Promise<Ran> => {
    const { printed, host: own } = host(line.includes("--json"));
    const given: CommandHost = { ...own, environment: { ...aws.environment, ...environment } };
    let exitCode: number | undefined;
    const program = createProgram(
      {
        local: async () => {},
        aws: async () => {},
        drill: async () => {},
        ledger: async (flags) => {
          exitCode = await (desk === undefined
            ? runLedger(flags, given)
            : serveLedger(flags, { ...desk, host: given }));
        },
      },
      "1.2.3",
    );
    const hasTable = line.includes("--table") || line.includes("--target");
    const table = hasTable ? [] : ["--table", TABLE];
    const args = ["ledger", ...line, ...table];
    const error = await program.parseAsync(args, { from: "user" }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    return {
      text: printed.join(""),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(error === undefined ? {} : { error }),
    };
  };
  const send = (message: MessageCopy) => sendStoredMessage(aws.sqs, "here", message);
  return { aws, clock, store, open, parkJob, openAgain, received, run, send };
}

interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly desk?: Omit<LedgerDesk, "host">;
}

/** The message that the job came in, as the worker copies it. */
export function messageOf(job: JobIdentity): MessageCopy {
  const { body, attributes } = writeEnvelope({ ...job, createdAtMs: 0, payload: { amount: 7 } });
  const texts = Object.entries(attributes).map(
    ([name, value]) => [name, { dataType: "String", value }] as const,
  );
  const bytes = { dataType: "Binary", value: new Uint8Array([0, 255]) };
  return {
    queue: QUEUE,
    body,
    attributes: { ...Object.fromEntries(texts), bytes },
    groupId: job.tenantId,
    traceHeader: "Root=1-5759e988-bd862e3fe1be46a994272793",
  };
}

function surroundings(clock: ManualClock, job: JobIdentity) {
  return {
    leaseUntilMs: () => clock.wallMs() + 60_000,
    leaseRemainingMs: () => 60_000,
    reach: async () => true,
    drainRemainingMs: () => undefined,
    signal: new AbortController().signal,
    copyMessage: () => messageOf(job),
    createdAtMs: clock.wallMs(),
    payload: { amount: 7 },
  };
}

export function effect<Result>(run: () => Result) {
  return { timeoutMs: 10_000, recover: park(), run: async () => run() };
}

function hangUp(): never {
  throw new Error("socket hang up");
}

function openJob(opening: JobOpening): OpenJob {
  if (opening.kind === "open") return opening;
  throw new Error(`the job is ${opening.kind}, not open`);
}

async function refused(work: Promise<unknown>): Promise<void> {
  await work.then(
    () => {
      throw new Error("the effect has a known outcome");
    },
    () => {},
  );
}
