/** The place of one cell: AWS, a payment provider, workers and an operator, each on its own wire. */

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import {
  readCharges,
  type SandboxCharge,
  startPaymentSandbox,
} from "@leasehold/billing-worker/payment-sandbox";
import { systemClock } from "@leasehold/clock";
import { nodeCommand, startWorkerProcess, type WorkerProcess } from "@leasehold/drill";
import { DynamodbLedgerStore, type JobRecord } from "@leasehold/idempotency";
import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import { createProducer } from "@leasehold/producer";
import type { Cell } from "./cells.ts";
import { type HoldProxy, startHoldProxy } from "./hold-proxy.ts";
import { CHARGE_JOB, paymentContract, TENANT } from "./numbers.ts";
import { COMMAND, SERVICE } from "./programs.ts";
import { openRoad, type Script } from "./trap.ts";
import { pointOf } from "./wire-point.ts";

/** How many messages a queue has, by whether and when they can be received. */
export interface QueueCount {
  readonly waiting: number;
  readonly dead: number;
}

/** One run of the operator's command. */
export interface CommandRun {
  readonly code: number | null;
  readonly said: string;
}

/** What was seen on the wires. */
export interface WireRecord {
  /** The idempotency key of each charge that left for the provider. */
  readonly keys: string[];
  /** The state of the job's record at each ack; `none` without a record. */
  readonly ackedIn: string[];
}

const COUNTS = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
] as const;
const INVOICE = "INV-1";
const JOB = {
  tenantId: parseTenantId(TENANT),
  jobId: parseJobId("charge-INV-1-1"),
  jobType: parseJobType(CHARGE_JOB),
};
const tableName =
  paymentContract.ledger.kind === "dynamodb" ? paymentContract.ledger.tableName : "";

/** Everything of one cell. */
export class PaymentSite implements AsyncDisposable {
  readonly seen: WireRecord = { keys: [], ackedIn: [] };
  readonly workers: WorkerProcess[] = [];
  readonly #cell: Cell;
  readonly #folder: string;
  readonly #aws: LocalAws;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #queues: readonly [work: string, dead: string];
  readonly #provider: string;
  readonly #store: DynamodbLedgerStore;
  readonly #ends: (() => Promise<unknown>)[];

  private constructor(parts: SiteParts) {
    this.#cell = parts.cell;
    this.#folder = parts.folder;
    this.#aws = parts.aws;
    this.#environment = parts.environment;
    this.#queues = parts.queues;
    this.#provider = parts.provider;
    this.#ends = [...parts.ends];
    const client = parts.aws.dynamodb;
    this.#store = new DynamodbLedgerStore({ client, tableName, clock: systemClock });
  }

  /** @param environment - of every process, besides what says where everything is */
  static async open(
    cell: Cell,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<PaymentSite> {
    const folder = await mkdtemp(join(tmpdir(), "leasehold-payments-"));
    const aws = await startLocalAws({ mode: "embedded" });
    const { queueUrls } = await provision({ contract: paymentContract, clients: aws });
    const sandbox = await startPaymentSandbox({ file: chargesFile(folder) });
    const [queue] = paymentContract.queues;
    const urlOf = (name: string | undefined) => queueUrls[name ?? ""] ?? "";
    return new PaymentSite({
      ...{ cell, folder, aws, environment, provider: sandbox.endpoint },
      queues: [urlOf(queue?.name), urlOf(queue?.deadLetter.name)],
      ends: [
        () => rm(folder, { recursive: true, force: true }),
        () => aws.close(),
        () => sandbox.close(),
      ],
    });
  }

  /** The one job of the cell. */
  async send(): Promise<void> {
    const client = this.#aws.sqs;
    const producer = createProducer({ client, queueUrl: this.#queues[0], clock: systemClock });
    const { tenantId, jobId } = JOB;
    const result = await producer.send(CHARGE_JOB, {
      ...{ tenantId, jobId, payload: { invoiceId: INVOICE } },
    });
    if (result.kind !== "sent") throw result.error;
  }

  /** A worker whose every request goes by `script`. */
  async startWorker(script: Script = openRoad): Promise<WorkerProcess> {
    const worker = startWorkerProcess(nodeCommand(SERVICE), {
      ...(await this.#wire(script)),
      TRIAL_POLICY: this.#cell.policy,
      TRIAL_OPENING: this.#cell.moment.opening ?? "eager",
      TRIAL_RECEIPTS: this.#receiptsFile,
    });
    this.workers.push(worker);
    this.#ends.push(() => worker[Symbol.asyncDispose]());
    return worker;
  }

  /** `leasehold ledger resolve` as a process; `killed` says when it is to be killed. */
  async resolve(
    word: readonly string[],
    script: Script = openRoad,
    killed: Promise<unknown> = new Promise(() => {}),
  ): Promise<CommandRun> {
    const { tenantId, jobId, jobType } = JOB;
    const about = ["--tenant", tenantId, "--type", jobType, "--job", jobId, "--table", tableName];
    const why = ["--effect", "charge", "--by", "drill", "--reason", "looked at the provider"];
    const flags = ["--conditions=source", COMMAND, "ledger", "resolve", ...about, ...why, ...word];
    const child = spawn(process.execPath, flags, {
      env: { PATH: process.env["PATH"], ...(await this.#wire(script)) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (piece: Buffer) => said.push(piece.toString()));
    }
    void killed.then(() => child.kill("SIGKILL"));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, said: said.join("").trim() };
  }

  /** What the provider has in its file for the invoice. */
  charges(): readonly SandboxCharge[] {
    return readCharges(chargesFile(this.#folder)).filter(({ invoiceId }) => invoiceId === INVOICE);
  }

  /** The payments that have a receipt, one entry for each mark. */
  receipts(): readonly string[] {
    if (!existsSync(this.#receiptsFile)) return [];
    const lines = readFileSync(this.#receiptsFile, "utf8").split("\n");
    return lines.flatMap((line) => (line === "" ? [] : [line.split(" ")[1] ?? ""]));
  }

  record(): Promise<JobRecord | undefined> {
    return this.#store.read(JOB);
  }

  async messages(): Promise<QueueCount> {
    const [waiting = 0, dead = 0] = await Promise.all(this.#queues.map((url) => this.#count(url)));
    return { waiting, dead };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
  }

  get #receiptsFile(): string {
    return join(this.#folder, "receipts");
  }

  async #count(url: string): Promise<number> {
    const { Attributes = {} } = await this.#aws.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...COUNTS] }),
    );
    return COUNTS.reduce((sum, name) => sum + Number(Attributes[name]), 0);
  }

  /** The environment of a process whose requests all come by `script`. */
  async #wire(script: Script): Promise<Record<string, string>> {
    const proxy = async (target: string) => {
      const started = await startHoldProxy(target, async (exchange) => {
        const point = pointOf(exchange);
        const pass = async () => {
          await this.#note(point, exchange.headers);
          return await exchange.forward(point === "charge" ? this.#hidden : []);
        };
        await script({ exchange, point, pass });
      });
      this.#ends.push(async () => started[Symbol.asyncDispose]());
      return started;
    };
    const [sqs, dynamodb, provider] = (await Promise.all(
      [this.#aws.sqsEndpoint, this.#aws.dynamodbEndpoint, this.#provider].map(proxy),
    )) as [HoldProxy, HoldProxy, HoldProxy];
    const common = Object.entries(this.#aws.environment).filter(([, value]) => value !== undefined);
    return {
      ...(Object.fromEntries(common) as Record<string, string>),
      ...this.#environment,
      AWS_ENDPOINT_URL_SQS: sqs.endpoint,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
      TRIAL_PAYMENTS: provider.endpoint,
    };
  }

  /**
   * `query` and `park` are for providers that know no keys, so theirs is never told one: a charge
   * that is sent twice is then taken twice.
   */
  get #hidden(): readonly string[] {
    const { policy } = this.#cell;
    return policy === "query" || policy === "park" ? ["idempotency-key"] : [];
  }

  async #note(point: string | undefined, headers: Record<string, unknown>): Promise<void> {
    if (point === "charge") this.seen.keys.push(String(headers["idempotency-key"]));
    if (point === "ack") this.seen.ackedIn.push((await this.record())?.state ?? "none");
  }
}

interface SiteParts {
  readonly cell: Cell;
  readonly folder: string;
  readonly aws: LocalAws;
  readonly environment: Readonly<Record<string, string>>;
  readonly queues: readonly [work: string, dead: string];
  readonly provider: string;
  readonly ends: readonly (() => Promise<unknown>)[];
}

function chargesFile(folder: string): string {
  return join(folder, "payments.jsonl");
}
