/** A worker as in production, the fault proxy, and SQS over HTTP, all on one manual clock. */

import { ManualClock } from "@leasehold/clock/manual";
import { defineContract, workerTimings } from "@leasehold/deployment-contract";
import { type EmbeddedSqs, type RequestAnswered, startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { type LeaseQueue, type SqsClients, sqsClients, sqsLeaseQueue } from "@leasehold/lease";
import {
  type FaultPlan,
  type FaultProxy,
  type ProxiedRequest,
  startFaultProxy,
} from "@leasehold/local-aws";
import { createWorker, type Worker } from "@leasehold/worker";
import { jobDefinition, messageOf, type PlannedJob } from "./fault-jobs.ts";
import type {
  DeadLetter,
  FaultRecord,
  HandlerRun,
  HeardEvent,
  WorkerExit,
} from "./fault-record.ts";

const contract = defineContract({
  preset: "drill",
  service: "faults",
  queues: [{ name: "jobs", deadLetter: { name: "jobs-dlq" } }],
});

/** Turns of the event loop after which the network is taken to be stuck. */
const PATIENCE_TURNS = 200_000;

/** One cell of the matrix. */
export class FaultWorld implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly events: HeardEvent[] = [];
  readonly #sqs: EmbeddedSqs;
  readonly #proxy: FaultProxy;
  readonly #served: RequestAnswered[];
  readonly #atServer: ReadonlySet<number>;
  readonly #runs: HandlerRun[] = [];
  readonly #messageIds: string[] = [];
  readonly #clients: SqsClients;
  /** Calls of the SDK that have begun and not ended. */
  #callsOut = 0;

  private constructor(parts: {
    readonly clock: ManualClock;
    readonly sqs: EmbeddedSqs;
    readonly proxy: FaultProxy;
    readonly served: RequestAnswered[];
    readonly atServer: ReadonlySet<number>;
  }) {
    this.clock = parts.clock;
    this.#sqs = parts.sqs;
    this.#proxy = parts.proxy;
    this.#served = parts.served;
    this.#atServer = parts.atServer;
    this.#clients = openClients(parts.proxy.endpoint);
  }

  static async open(): Promise<FaultWorld> {
    const clock = new ManualClock();
    const served: RequestAnswered[] = [];
    const atServer = new Set<number>();
    const sqs = await startEmbeddedSqs({
      clock,
      onRequest: (request) => {
        if (request.kind === "begun") return void atServer.add(request.requestNumber);
        atServer.delete(request.requestNumber);
        served.push(request);
      },
    });
    const proxy = await startFaultProxy({ target: sqs.endpoint, clock });
    for (const QueueName of ["jobs-dlq", "jobs"]) {
      await sqs.account.perform("CreateQueue", { QueueName });
    }
    return new FaultWorld({ clock, sqs, proxy, served, atServer });
  }

  /** A worker that goes through the proxy; its events are kept when it is the one under trial. */
  worker(isUnderTrial: boolean): Worker {
    const queue = sqsLeaseQueue({
      clients: this.#clients,
      queueUrl: this.#url("jobs"),
      deadLetterQueueUrl: this.#url("jobs-dlq"),
      clock: this.clock,
    });
    const worker = createWorker({
      contract,
      jobs: [
        jobDefinition({
          clock: this.clock,
          messageIdOf: (n) => this.#messageIds[n] ?? "",
          runs: this.#runs,
        }),
      ],
      queues: [this.#counted(queue)],
      clock: this.clock,
      random: () => 0.5,
    });
    if (isUnderTrial) {
      worker.onEvent((event) => {
        const afterRequest = this.#proxy.log.at(-1)?.requestNumber ?? 0;
        this.events.push({ atMs: this.clock.wallMs(), afterRequest, event });
      });
    }
    return worker;
  }

  async send(jobs: readonly PlannedJob[]): Promise<void> {
    for (const job of jobs) {
      const { body, attributes } = messageOf(this.#messageIds.length, job);
      const { MessageId = "" } = await this.#sqs.account.perform("SendMessage", {
        QueueUrl: this.#url("jobs"),
        MessageBody: body,
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, StringValue]) => [
            name,
            { DataType: "String", StringValue },
          ]),
        ),
      });
      this.#messageIds.push(MessageId);
    }
  }

  setPlan(plan: FaultPlan): void {
    this.#proxy.setPlan(plan);
  }

  clearPlan(): void {
    this.#proxy.clear();
  }

  /** Requests that meet a fault, as far as they have come. */
  get faulted(): readonly ProxiedRequest[] {
    return this.#proxy.log.filter(({ fault }) => fault !== undefined);
  }

  /** Messages in the queue, in whatever state. */
  get left(): number {
    const {
      visible = 0,
      inFlight = 0,
      delayed = 0,
    } = this.#sqs.account.report().queues["jobs"] ?? {};
    return visible + inFlight + delayed;
  }

  /**
   * Lets time pass until something is so, from one timer to the next, and never while anything is
   * under way on the network: there time stands still.
   */
  async until(isSo: () => boolean, limitMs: number): Promise<void> {
    const endAtMs = this.clock.monotonicMs() + limitMs;
    for (;;) {
      await this.#networkRests();
      if (isSo()) return;
      const nowMs = this.clock.monotonicMs();
      if (nowMs >= endAtMs) throw new Error(`not within ${limitMs} ms: ${isSo}`);
      const nextAtMs = Math.min(endAtMs, this.clock.nextDueAtMs ?? endAtMs);
      await this.clock.advance(Math.max(0, nextAtMs - nowMs));
    }
  }

  async pass(durationMs: number): Promise<void> {
    const endAtMs = this.clock.monotonicMs() + durationMs;
    await this.until(() => this.clock.monotonicMs() >= endAtMs, durationMs);
  }

  /** Everything, once the cell is over. */
  async record(exit: WorkerExit, isOutage: boolean): Promise<FaultRecord> {
    const { lease } = workerTimings(contract);
    return {
      visibilityTimeoutMs: lease.visibilityTimeoutMs,
      callTimeoutMs: lease.callTimeoutMs,
      leaseMarginMs: lease.leaseMarginMs,
      isOutage,
      sent: this.#messageIds,
      proxied: this.#proxy.log.filter(({ arrivedAtMs }) => arrivedAtMs <= exit.atMs),
      served: this.#served,
      events: this.events,
      runs: this.#runs.filter(
        // What a handler does after its process would have ended has not happened.
        ({ startedAtMs, endedAtMs }) => startedAtMs >= exit.atMs || (endedAtMs ?? 0) <= exit.atMs,
      ),
      deadLetters: await this.#deadLetters(),
      exit,
      left: this.left,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#clients.destroy();
    await this.#proxy.close();
    await this.#sqs.close();
  }

  #url(queueName: string): string {
    return `${this.#proxy.endpoint}/000000000000/${queueName}`;
  }

  /** The same queue; knows how many of its calls are out. */
  #counted(queue: LeaseQueue): LeaseQueue {
    const counted = async <Result>(call: Promise<Result>): Promise<Result> => {
      this.#callsOut += 1;
      try {
        return await call;
      } finally {
        this.#callsOut -= 1;
      }
    };
    return {
      name: queue.name,
      url: queue.url,
      fifo: queue.fifo,
      hasDeadLetterQueue: queue.hasDeadLetterQueue,
      receive: (request) => counted(queue.receive(request)),
      changeVisibility: (entries) => counted(queue.changeVisibility(entries)),
      delete: (receiptHandles) => counted(queue.delete(receiptHandles)),
      deadLetter: (copy) => counted(queue.deadLetter(copy)),
    };
  }

  /** Resolves when all that is out waits for the clock: held in the proxy, or polling at the server. */
  async #networkRests(): Promise<void> {
    for (let turn = 0; turn < PATIENCE_TURNS; turn += 1) {
      await this.clock.settle();
      if (this.#isResting()) return;
    }
    const open = this.#proxy.log.filter(({ stage }) => stage !== "over");
    const state = JSON.stringify({ callsOut: this.#callsOut, open });
    throw new Error(`the network does not come to rest: ${state}`);
  }

  #isResting(): boolean {
    const open = this.#proxy.log.filter(({ stage }) => stage !== "over");
    const waitedFor = open.filter(({ clientGoneAtMs }) => clientGoneAtMs === undefined);
    const forwarded = open.filter(({ stage }) => stage === "forwarded");
    return (
      waitedFor.length === this.#callsOut &&
      forwarded.length === this.#atServer.size &&
      open.every(({ stage }) => stage !== "answering")
    );
  }

  async #deadLetters(): Promise<readonly DeadLetter[]> {
    const QueueUrl = this.#url("jobs-dlq");
    const found: DeadLetter[] = [];
    for (;;) {
      const { Messages = [] } = await this.#sqs.account.perform("ReceiveMessage", {
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ["All"],
        MessageSystemAttributeNames: ["SentTimestamp"],
      });
      if (Messages.length === 0) return found;
      for (const { Attributes, MessageAttributes } of Messages) {
        const source = JSON.parse(MessageAttributes?.["dead_letter_source"]?.StringValue ?? "{}");
        found.push({
          sourceMessageId: source.message_id,
          sentAtMs: Number(Attributes?.["SentTimestamp"]),
        });
      }
    }
  }
}

/** The clients of a service, as its contract has them. */
function openClients(endpoint: string): SqsClients {
  const { lease, receive } = workerTimings(contract);
  return sqsClients(
    {
      region: "us-east-1",
      endpoint,
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      // The SDK's own timers run in real time. The hard timeout that counts is on the clock.
      requestHandler: { requestTimeout: 60_000, throwOnRequestTimeout: true },
    },
    {
      callTimeoutMs: lease.callTimeoutMs,
      receiveSlackMs: Math.max(...receive.map(({ timeoutMs, waitMs }) => timeoutMs - waitMs)),
      maxSockets: lease.sockets,
    },
  );
}
