/** Plays one history with two workers on one FIFO queue, and judges it by the server's record. */

import { ManualClock } from "@leasehold/clock/manual";
import { type ContractInput, defineContract } from "@leasehold/deployment-contract";
import { type RequestAnswered, SqsAccount } from "@leasehold/embedded-sqs";
import { type Job, type JobContext, PermanentJobError, RetryLaterError } from "@leasehold/job";
import { createWorker, type Worker, type WorkerEvent } from "@leasehold/worker";
import { z } from "zod";
import {
  type ModelCall,
  type ModelFault,
  type ModelLeaseQueue,
  modelLeaseQueue,
} from "../support/model-lease-queue.ts";
import { message } from "../support/worker-world.ts";
import type { FifoHistory, RunScript, Trouble } from "./fifo-history.ts";
import { FifoRecord } from "./fifo-record.ts";

const QUEUE = "jobs.fifo";
/** By then everything has been settled, whatever happened. */
const LONGEST_MS = 3_600_000;
const STEP_MS = 5_000;

/** Two workers on one queue, while a history goes on. */
export class FifoTrial {
  readonly clock: ManualClock = new ManualClock();
  readonly record: FifoRecord;
  readonly #history: FifoHistory;
  readonly #account: SqsAccount;
  readonly #runs = new Map<number, number>();
  readonly #queues: ModelLeaseQueue[] = [];
  readonly #workers: (Worker | undefined)[] = [];
  #isOver = false;

  constructor(history: FifoHistory) {
    this.#history = history;
    this.#account = new SqsAccount(this.clock, {
      onRequest: (event) => {
        if (event.kind === "answered" && event.queueName === QUEUE) this.#heard(event);
      },
    });
    this.record = new FifoRecord(() => this.#queues[0]?.peekDeadLetters() ?? Promise.resolve([]));
  }

  /** Resolves when the queue is empty and both workers have gone, or with what is left after long. */
  async play(): Promise<FifoRecord> {
    const { secondWorkerAtMs, troubles } = this.#history;
    for (const worker of [0, 1] as const) this.#queues[worker] = await this.#openQueue(worker);
    void this.#send();
    // Whatever is sent at once is there before the first poll, which may bring several of a group.
    await this.clock.settle();
    this.#startWorker(0);
    this.clock.schedule(secondWorkerAtMs, () => this.#startWorker(1));
    for (const trouble of troubles) {
      const { kind, atMs } = trouble;
      if (kind === "drain") this.clock.schedule(atMs, () => void this.#replace(trouble));
      if (kind === "taken") this.clock.schedule(atMs, () => void this.#take());
    }
    let left = Number.POSITIVE_INFINITY;
    while (left > 0 && this.clock.monotonicMs() < LONGEST_MS) {
      await this.clock.advance(STEP_MS);
      const { visible, inFlight } = (this.#queues[0] as ModelLeaseQueue).counts();
      left = this.record.sent.length < this.#history.messages.length ? 1 : visible + inFlight;
    }
    this.#isOver = true;
    const drained = this.#workers.map((worker) => worker?.drain({ kind: "request", by: "trial" }));
    await this.clock.advance(STEP_MS * 4);
    await Promise.all(drained);
    await this.record.settled();
    this.record.close(left);
    this.#account.close();
    return this.record;
  }

  async #send(): Promise<void> {
    for (const [n, { groupId, isJob, afterMs }] of this.#history.messages.entries()) {
      if (afterMs > 0) await this.clock.sleep(afterMs);
      const { body, attributes } = message(n);
      const content = isJob ? { body, attributes } : { body: "{" };
      const sent = { ...content, groupId, deduplicationId: `${n}` };
      const messageId = await (this.#queues[0] as ModelLeaseQueue).send(sent as never);
      this.record.sent.push({ messageId, groupId });
    }
  }

  async #openQueue(worker: 0 | 1): Promise<ModelLeaseQueue> {
    const { maxReceiveCount } = this.#history;
    return await modelLeaseQueue({
      ...{ clock: this.clock, account: this.#account, name: QUEUE, maxReceiveCount },
      callTimeoutMs: 1_000,
      fault: (call) => this.#faultOf(call, worker),
    });
  }

  #faultOf({ kind }: ModelCall, worker: 0 | 1): ModelFault | undefined {
    const nowMs = this.clock.monotonicMs();
    const troubles = this.#history.troubles.filter(
      (each) => each.worker === worker && nowMs >= each.atMs && nowMs < each.atMs + each.forMs,
    );
    const has = (wanted: Trouble["kind"]) => troubles.some((each) => each.kind === wanted);
    if (has("no-extensions") && kind === "changeVisibility") return { kind: "lost-request" };
    if (has("throttled")) return { kind: "throttled" };
    if (has("no-replies")) return { kind: "lost-reply" };
    if (has("slow-deletes") && kind === "delete") return { kind: "slow-request", delayMs: 900 };
    return undefined;
  }

  #startWorker(index: 0 | 1): void {
    if (this.#isOver) return;
    const queue = this.#queues[index] as ModelLeaseQueue;
    const worker = createWorker({
      contract: defineContract(contractOf(this.#history)),
      jobs: [
        {
          type: "test.work",
          schema: z.object({ n: z.number() }),
          handler: (job: Job<{ n: number }>, context: JobContext) => this.#work(job, context),
        },
      ],
      queues: [queue],
      clock: this.clock,
      random: () => 0.5,
    });
    worker.onEvent((event: WorkerEvent) => this.record.hear(index, event));
    this.#workers[index] = worker;
    void worker.start();
  }

  async #replace({ worker: index, forMs }: Trouble): Promise<void> {
    const worker = this.#workers[index];
    if (worker === undefined || worker.snapshot().phase !== "ready") return;
    worker.signal("SIGTERM");
    await worker.ended;
    await this.clock.sleep(forMs);
    this.#startWorker(index);
  }

  /** As when SQS, or an operator, hands a message out that is in flight. */
  async #take(): Promise<void> {
    const ReceiptHandle = this.record.firstHeld;
    if (ReceiptHandle === undefined) return;
    const QueueUrl = this.#queues[0]?.queueUrl;
    const input = { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 };
    // Its lease may have ended by itself just now.
    await this.#account.perform("ChangeMessageVisibility", input).catch(() => undefined);
  }

  async #work({ payload: { n } }: Job<{ n: number }>, context: JobContext): Promise<void> {
    const run = this.#runs.get(n) ?? 0;
    this.#runs.set(n, run + 1);
    const script = this.#history.messages[n]?.runs[run];
    if (script !== undefined) await perform(script, context, this.clock);
  }

  #heard({ action, entries }: RequestAnswered): void {
    if (action === "ReceiveMessage") this.record.look();
    for (const { messageId = "", receiptHandle = "", outcome } of entries) {
      if (outcome === "received") this.record.received(messageId, receiptHandle);
      if (outcome === "deleted") this.record.deleted(messageId);
    }
  }
}

async function perform(script: RunScript, { signal }: JobContext, clock: ManualClock) {
  switch (script.kind) {
    case "work":
      await clock.sleep(script.forMs, script.ignoresAbort ? undefined : signal);
      if (!script.ignoresAbort) signal.throwIfAborted();
      return;
    case "fail":
      throw new Error("fails");
    case "permanent":
      throw new PermanentJobError("never");
    case "later":
      throw new RetryLaterError(script.delayMs);
  }
}

/** Budgets as small as five receives allow: three tries. */
function contractOf({ concurrency, maxReceiveCount }: FifoHistory): ContractInput {
  return {
    preset: "drill",
    service: "trial",
    queues: [{ name: QUEUE, maxReceiveCount }],
    worker: {
      ...{ concurrency, maxAttempts: 2, interruptionBudget: 1 },
      ...{ backoffBaseMs: 2_000, backoffCapMs: 8_000 },
    },
  };
}
