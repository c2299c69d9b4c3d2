/** The stage of one scenario: AWS, a queue by the service's contract, and workers around it. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@leasehold/clock";
import { type WorkerTimings, workerTimings } from "@leasehold/deployment-contract";
import {
  type Environment,
  type LocalAws,
  type LocalAwsOptions,
  provision,
  startFaultProxy,
  startLocalAws,
} from "@leasehold/local-aws";
import { createProducer } from "@leasehold/producer";
import type { DrillRecord, SentMessage } from "./drill-record.ts";
import type {
  DrillCompanion,
  DrillNumbers,
  DrillPlace,
  DrillTarget,
  DrillWork,
} from "./drill-target.ts";
import { DrillWorker } from "./drill-worker.ts";
import { messagesOn } from "./queue-counts.ts";
import { startWorkerProcess } from "./worker-process.ts";

/** What one scenario is played with. */
export interface StageOrders {
  readonly scenario: string;
  readonly target: DrillTarget;
  readonly numbers: DrillNumbers;
  readonly work: (timings: WorkerTimings) => DrillWork;
  /** Where AWS is. @defaultValue in this process */
  readonly aws?: LocalAwsOptions;
}

interface StageParts {
  readonly orders: StageOrders;
  readonly place: DrillPlace;
  readonly aws: LocalAws;
  readonly companion: DrillCompanion | undefined;
  readonly queueUrl: string;
  readonly deadUrl: string;
}

/** How often the queue is asked whether it is empty. */
const LOOK_EVERY_MS = 250;

/** One queue and its workers, until they are disposed of. */
export class DrillStage implements AsyncDisposable {
  readonly timings: WorkerTimings;
  readonly #parts: StageParts;
  readonly #startedAtMs = systemClock.wallMs();
  readonly #workers: DrillWorker[] = [];
  readonly #sent: SentMessage[] = [];
  #awaited = "nothing";

  private constructor(parts: StageParts) {
    this.#parts = parts;
    this.timings = workerTimings(parts.place.contract);
  }

  static async open(orders: StageOrders): Promise<DrillStage> {
    const contract = orders.target.contract(orders.numbers);
    const folder = await mkdtemp(join(tmpdir(), "leasehold-drill-"));
    const place = { folder, contract, work: orders.work(workerTimings(contract)) };
    const aws = await startLocalAws(orders.aws ?? { mode: "embedded" });
    const companion = await orders.target.startCompanion?.(place);
    const { queueUrls } = await provision({ contract, tables: orders.target.tables, clients: aws });
    const [queue] = contract.queues;
    const [queueUrl = "", deadUrl = ""] = [queue?.name, queue?.deadLetter.name].map(
      (name) => queueUrls[name ?? ""],
    );
    const stage = new DrillStage({ orders, place, aws, companion, queueUrl, deadUrl });
    try {
      await stage.#assertEmpty();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What the scenario is waiting for, for people. */
  get awaited(): string {
    return this.#awaited;
  }

  /** The long poll's wait. */
  get waitMs(): number {
    return this.timings.receive[0]?.waitMs ?? 0;
  }

  /** The place, for what only some targets can be told. */
  get place(): DrillPlace {
    return this.#parts.place;
  }

  /** How the target is started. */
  get command(): readonly string[] {
    return this.#parts.orders.target.command;
  }

  /** Variables that tell of a platform whose grace is too short. */
  shortGrace(): Readonly<Record<string, string>> {
    const { orders, place } = this.#parts;
    return orders.target.shortGrace?.(place) ?? {};
  }

  /** Starts a worker; with `command` in another way than the target says. */
  async start(
    name: string,
    environment: Readonly<Record<string, string>> = {},
    command: readonly string[] = this.command,
  ): Promise<DrillWorker> {
    const { aws, companion, orders } = this.#parts;
    const wire = await startFaultProxy({ target: aws.sqsEndpoint, logLimit: 100_000 });
    const process = startWorkerProcess(command, {
      ...accountOf(orders.aws),
      ...definedOnly(aws.environment),
      ...orders.target.environment(this.#placeOfNext()),
      ...companion?.environment,
      ...environment,
      AWS_ENDPOINT_URL_SQS: wire.endpoint,
    });
    const { slowType } = orders.target;
    const worker = new DrillWorker({ name, process, wire, awaiting: this.#awaiting, slowType });
    this.#workers.push(worker);
    return worker;
  }

  /** A service that cannot be told job by job is told worker by worker. */
  #placeOfNext(): DrillPlace {
    const { place } = this.#parts;
    const { thenMs } = place.work;
    if (this.#workers.length === 0 || thenMs === undefined) return place;
    return { ...place, work: { ...place.work, forMs: thenMs } };
  }

  /** Sends jobs and returns when the queue has them. */
  async send(count: number = 1): Promise<readonly SentMessage[]> {
    const { aws, queueUrl, orders, place } = this.#parts;
    const producer = createProducer({ client: aws.sqs, queueUrl, clock: systemClock });
    const jobs = orders.target.jobs(place, this.#sent.length + 1, count);
    const results = await producer.sendMany([...jobs]);
    const sent = results.map((result, index) => {
      if (result.kind !== "sent") throw result.error;
      const { tenantId, jobId } = jobs[index] ?? { tenantId: "", jobId: "" };
      return { messageId: result.messageId, tenantId, jobId };
    });
    this.#sent.push(...sent);
    return sent;
  }

  /** Resolves when there is nothing on the queue any more, and nobody holds anything of it. */
  async quiet(): Promise<void> {
    const look = async () => {
      while ((await messagesOn(this.#parts.aws.sqs, this.#parts.queueUrl)) > 0) {
        await systemClock.sleep(LOOK_EVERY_MS);
      }
    };
    await this.#awaiting("an empty queue", look());
  }

  /** Resolves at a moment of Unix time. */
  async until(atMs: number): Promise<void> {
    await this.#awaiting("a moment", systemClock.sleep(Math.max(0, atMs - systemClock.wallMs())));
  }

  /** Sends SIGTERM to a worker and waits for its end. */
  async stop(worker: DrillWorker): Promise<void> {
    worker.signal("SIGTERM");
    await worker.exited();
  }

  async record(): Promise<DrillRecord> {
    const { aws, queueUrl, deadUrl, orders, place } = this.#parts;
    const effects = await orders.target.countEffects?.(place);
    const effectMoments = await orders.target.tellEffects?.(place);
    return {
      scenario: orders.scenario,
      startedAtMs: this.#startedAtMs,
      endedAtMs: systemClock.wallMs(),
      timings: this.timings,
      sent: [...this.#sent],
      workers: this.#workers.map((worker) => worker.record()),
      left: {
        onQueue: await messagesOn(aws.sqs, queueUrl),
        dead: await messagesOn(aws.sqs, deadUrl),
      },
      ...(effects !== undefined && { effects }),
      ...(effectMoments !== undefined && { effectMoments }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker[Symbol.asyncDispose]()));
    await this.#parts.companion?.close();
    await this.#parts.aws.close();
    await rm(this.#parts.place.folder, { recursive: true, force: true });
  }

  /** What is there already belongs to somebody: a drill would work on it, and judge by it. */
  async #assertEmpty(): Promise<void> {
    const { aws, queueUrl, deadUrl } = this.#parts;
    for (const url of [queueUrl, deadUrl]) {
      const count = await messagesOn(aws.sqs, url);
      if (count > 0) {
        throw new Error(`${url} holds ${count} messages: drill where the queues are empty`);
      }
    }
  }

  readonly #awaiting = async <Value>(what: string, promise: Promise<Value>): Promise<Value> => {
    this.#awaited = what;
    return await promise;
  };
}

/** What opens the account of an endpoint; the embedded AWS has its own. */
function accountOf(aws: LocalAwsOptions | undefined): Record<string, string> {
  if (aws?.mode !== "endpoint") return {};
  const entries = Object.entries(aws.environment).filter(([name]) => name.startsWith("AWS_"));
  return definedOnly(Object.fromEntries(entries));
}

function definedOnly(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
}
