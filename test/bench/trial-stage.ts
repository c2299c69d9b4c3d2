/** The stage of one trial: a queue, one worker process behind a wire, and what a scenario may do. */

import { join } from "node:path";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { systemClock } from "@leasehold/clock";
import { type DeploymentContract, defineContract } from "@leasehold/deployment-contract";
import {
  type LogLine,
  nodeCommand,
  startWorkerProcess,
  type WorkerProcess,
} from "@leasehold/drill";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import { createProducer, type Producer } from "@leasehold/producer";
import { Successor } from "./successor.ts";
import { type TappedWire, tapWire, type WireRule } from "./tapped-wire.ts";
import { type Effect, TrialRecord } from "./trial-record.ts";
import type { TrialOrders } from "./trial-work.ts";

/** What a stage is built from. */
export interface StageParts {
  readonly library: string;
  readonly concurrency: number;
  readonly fifo: boolean;
  readonly wire: WireRule;
}

/** One job to send; what is left out is right for most. */
export interface TrialJob extends Partial<TrialOrders> {
  readonly jobId: string;
}

/** The longest that a scenario waits for something; what has not come by then is not coming. */
const PATIENCE_MS = 30_000;
/** A worker that has room polls again within its wait of two seconds. */
const POLL_LIMIT_MS = 3_000;

/** One worker process under trial. */
export class TrialStage implements AsyncDisposable {
  readonly contract: DeploymentContract;
  readonly record: TrialRecord;
  /** Job of each message, in the order of sending. */
  readonly jobOf = new Map<string, string | undefined>();
  readonly #parts: StageParts;
  readonly #aws: LocalAws;
  readonly #wire: TappedWire;
  readonly #queueUrl: string;
  readonly #producer: Producer;
  readonly #successor: Successor;
  readonly #effectsOfSuccessor: string[] = [];
  #worker: WorkerProcess | undefined;

  private constructor(
    parts: StageParts,
    record: TrialRecord,
    contract: DeploymentContract,
    { aws, wire, queueUrl }: { aws: LocalAws; wire: TappedWire; queueUrl: string },
  ) {
    this.#parts = parts;
    this.record = record;
    this.contract = contract;
    this.#aws = aws;
    this.#wire = wire;
    this.#queueUrl = queueUrl;
    this.#producer = createProducer({ client: aws.sqs, queueUrl, clock: systemClock });
    const { embedded: sqs } = aws;
    if (sqs === undefined) throw new Error("the bench needs the embedded SQS");
    const onEffect = (jobId: string) => void this.#effectsOfSuccessor.push(jobId);
    this.#successor = new Successor({ sqs, record, queueUrl, onEffect });
  }

  static async open(parts: StageParts): Promise<TrialStage> {
    const contract = contractOf(parts);
    const record = new TrialRecord();
    const onSqsRequest = (event: Parameters<TrialRecord["hear"]>[0]) => record.hear(event);
    const aws = await startLocalAws({ mode: "embedded", onSqsRequest });
    const { queueUrls } = await provision({ contract, clients: aws });
    const queueUrl = queueUrls[contract.queues[0]?.name ?? ""] ?? "";
    const wire = await tapWire(aws.sqsEndpoint, parts.wire);
    return new TrialStage(parts, record, contract, { aws, wire, queueUrl });
  }

  /** What was done so far, the worker's and the successor's. */
  get effects(): readonly Effect[] {
    const ofWorker = this.#lines("trial.effect").map((jobId) => ({ jobId, by: "worker" as const }));
    const later = this.#effectsOfSuccessor.map((jobId) => ({ jobId, by: "successor" as const }));
    return [...ofWorker, ...later];
  }

  async send(...jobs: readonly TrialJob[]): Promise<void> {
    const orders = jobs.map(({ jobId, ...given }) => ({
      type: "trial.work",
      tenantId: "tenant",
      jobId,
      payload: { do: "work", forMs: 100, insists: false, ...given },
    }));
    const results = await this.#producer.sendMany(orders);
    for (const result of results) {
      if (result.kind !== "sent") throw result.error;
      this.jobOf.set(result.messageId, result.jobId);
    }
  }

  /** Sends a message that is no job. */
  async sendBody(body: string): Promise<void> {
    const command = new SendMessageCommand({ QueueUrl: this.#queueUrl, MessageBody: body });
    const { MessageId = "" } = await this.#aws.sqs.send(command);
    this.jobOf.set(MessageId, undefined);
  }

  /**
   * Starts the worker and waits until it claims.
   *
   * @returns why it will not work this queue, in its own words; `undefined` when it does
   */
  async startWorker(): Promise<string | undefined> {
    const worker = startWorkerProcess(nodeCommand(join(import.meta.dirname, "trial-program.ts")), {
      TRIAL_LIBRARY: this.#parts.library,
      TRIAL_CONTRACT: JSON.stringify(this.contract),
      TRIAL_ENDPOINT: this.#wire.endpoint,
      TRIAL_QUEUE_URL: this.#queueUrl,
    });
    this.#worker = worker;
    const ready = await Promise.race([
      this.#line("worker.ready").catch(() => false),
      this.#line("trial.ready").catch(() => false),
      worker.exited.then(() => false),
    ]);
    if (ready !== false) return undefined;
    const { code } = await worker.exited;
    const words = [...worker.lines.map(({ error_message }) => error_message), ...worker.noise];
    return `exit code ${code}: ${words.filter((word) => word !== undefined).join(" ")}`;
  }

  started(jobId: string): Promise<unknown> {
    return this.#line("trial.started", jobId);
  }

  /** The worker has done the job's effect. */
  done(jobId: string): Promise<unknown> {
    return this.#line("trial.effect", jobId);
  }

  /** The worker's handler has stopped before its effect. */
  gaveUp(jobId: string): Promise<unknown> {
    return this.#line("trial.gave-up", jobId);
  }

  /** Resolves when this many effects were done, or the limit is over. */
  effectsReach(count: number, limitMs: number): Promise<boolean> {
    return this.#until(() => this.effects.length >= count, limitMs);
  }

  /** Resolves when the worker has a poll open, none of its requests being on the way. */
  pollIsOpen(): Promise<boolean> {
    const isOpen = () => (this.#report()?.waitingPolls ?? 0) > 0;
    return this.#until(isOpen, PATIENCE_MS);
  }

  /** Resolves when the worker begins its next poll, or is found to begin none. */
  async pollBegins(): Promise<void> {
    const before = this.record.pollsBegun;
    await this.record.until(() => this.record.pollsBegun > before, POLL_LIMIT_MS);
  }

  /** The wire holds a request back. */
  get held(): Promise<void> {
    return this.#wire.held;
  }

  /** Ends the jobs that wait to be told. */
  tell(): void {
    this.#worker?.signal("SIGUSR2");
  }

  /** SIGTERM; resolves when the program has heard it. */
  async stop(): Promise<void> {
    this.#worker?.signal("SIGTERM");
    await this.#line("trial.stopping");
  }

  /** SIGQUIT: ends what runs. */
  async abort(): Promise<void> {
    this.#worker?.signal("SIGQUIT");
    await this.#line("trial.stopping");
  }

  /** Makes the message of a running job visible again, as a double delivery of SQS would. */
  async deliverAgain(jobId: string): Promise<void> {
    const messageId = [...this.jobOf].find(([, job]) => job === jobId)?.[0] ?? "";
    const before = this.record.receivesOf(messageId);
    const input = {
      QueueUrl: this.#queueUrl,
      ReceiptHandle: before.at(-1) ?? "",
      VisibilityTimeout: 0,
    };
    const { embedded } = this.#aws;
    await this.record.asBench(async () =>
      embedded?.account.perform("ChangeMessageVisibility", input),
    );
    const isBack = () => this.record.receivesOf(messageId).length > before.length;
    await this.record.until(isBack, 3_000);
  }

  startSuccessor(): void {
    this.#successor.start();
  }

  /** When the worker has ended, Unix time; resolves when all that it sent has arrived. */
  async exited(): Promise<number> {
    const { atMs } = (await this.#worker?.exited) ?? { atMs: Number.NaN };
    await this.#wire.delivered();
    return atMs;
  }

  /** Resolves when no message is left, which is after a visibility timeout at the latest. */
  async settled(): Promise<void> {
    const isEmpty = () => {
      const { visible = 0, inFlight = 0, delayed = 0 } = this.#report() ?? {};
      return visible + inFlight + delayed === 0;
    };
    await this.record.until(isEmpty, 2 * this.contract.lease.visibilityTimeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#successor.stop();
    await this.#worker?.[Symbol.asyncDispose]();
    await this.#wire[Symbol.asyncDispose]();
    await this.#aws.close();
  }

  #report() {
    return this.#aws.embedded?.account.report().queues[this.contract.queues[0]?.name ?? ""];
  }

  async #until(isThere: () => boolean, limitMs: number): Promise<boolean> {
    const endAtMs = performance.now() + limitMs;
    while (!isThere() && performance.now() < endAtMs) await pass(10);
    return isThere();
  }

  #lines(event: string): readonly string[] {
    const lines = this.#worker?.lines ?? [];
    return lines.filter((line) => line.event === event).map((line) => String(line["jobId"]));
  }

  #line(event: string, jobId?: string): Promise<LogLine> {
    if (this.#worker === undefined) throw new Error("the worker has not been started");
    return this.#worker.waitFor(event, (line) => jobId === undefined || line["jobId"] === jobId);
  }
}

/** Lets time pass while the program under trial does what it does. */
export function pass(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

function contractOf({ concurrency, fifo }: StageParts): DeploymentContract {
  const suffix = fifo ? ".fifo" : "";
  return defineContract({
    preset: "drill",
    service: "bench",
    queues: [{ name: `bench-jobs${suffix}`, deadLetter: { name: `bench-dead${suffix}` } }],
    worker: { concurrency, jobTimeoutMs: 600_000, backoffBaseMs: 1_000, backoffCapMs: 1_000 },
    ledger: { kind: "none" },
  });
}
