/** A fleet of workers, a queue, a ledger and a provider under one clock, through one history. */

import type { Timeline } from "@leasehold/drill";
import { SqsAccount } from "@leasehold/embedded-sqs";
import type { LeaseQueue } from "@leasehold/lease";
import type { ModelCall, ModelFault, ModelLeaseQueue } from "../support/model-lease-queue.ts";
import { modelLeaseQueue } from "../support/model-lease-queue.ts";
import { Chance } from "../support/sim/chance.ts";
import { SimClock } from "../support/sim/sim-clock.ts";
import { SimProcess } from "../support/sim/sim-process.ts";
import { SimProvider } from "../support/sim/sim-provider.ts";
import { SimStore } from "../support/sim/sim-store.ts";
import { message } from "../support/worker-world.ts";
import { FleetHandler, identityOf, typeOf } from "./fleet-handler.ts";
import { FleetWorker } from "./fleet-worker.ts";
import type { CallFault, History, Incident, JobPlan } from "./history.ts";
import { Judge } from "./judge.ts";
import { Trace } from "./trace.ts";

/** By then everything is settled, whatever happened before it was calm. */
const SETTLED_WITHIN_MS = 2_400_000;
/** From SIGTERM to SIGKILL, as the platform counts. */
const GRACE_MS = 14_000;
const RESTART_MS = 700;
const STEP_MS = 1_000;
const CALL_TIMEOUT_MS = 1_000;
const DAY_MS = 86_400_000;

/** What a history came to. */
export interface Outcome {
  readonly violations: readonly string[];
  readonly seen: ReadonlyMap<string, number>;
  readonly trace: readonly string[];
  /** Absent where the history was not traced. */
  readonly timeline?: Timeline;
}

/** Plays a history. Two plays of the same history are the same. */
export async function play(history: History, { isTraced = false } = {}): Promise<Outcome> {
  return await new World(history, isTraced).play();
}

class World {
  readonly #history: History;
  readonly #clock = new SimClock();
  readonly #chance: Chance;
  readonly #account: SqsAccount;
  readonly #store: SimStore;
  readonly #provider: SimProvider;
  readonly #trace: Trace;
  readonly #judge: Judge;
  readonly #places: (FleetWorker | undefined)[] = [];
  readonly #handler: FleetHandler;
  readonly #held = new Map<string, string>();
  #queue: ModelLeaseQueue | undefined;
  #workers = 0;
  #isOver = false;

  constructor(history: History, isTraced: boolean) {
    this.#history = history;
    const chance = new Chance(history.seed + 77);
    this.#chance = chance;
    this.#trace = new Trace(isTraced, () => this.#clock.monotonicMs());
    this.#store = new SimStore(this.#clock, chance, {
      ...history.store,
      ...{ landsLate: 0, loses: "once" },
    });
    this.#provider = new SimProvider(this.#clock, chance, {
      ...{ keyWindowMs: DAY_MS, latestLandingMs: 20_000 },
      ...{ faultShare: history.providerFaults, declinedShare: 0 },
    });
    this.#judge = new Judge({
      ...{ history, trace: this.#trace },
      charges: (key) => this.#provider.countOf(key),
      recordOf: (job) => this.#store.memory.read(identityOf(job)),
      nowMs: () => this.#clock.monotonicMs(),
    });
    this.#handler = new FleetHandler(history, this.#judge, this.#provider);
    this.#store.onMade = (write, before, after) => {
      this.#trace.note("ledger", `${write.name} of ${write.job.jobId}`);
      this.#trace.fleet?.wrote(before, after);
      this.#judge.wrote(write, before, after);
    };
    this.#provider.onApplied = (key) => this.#trace.fleet?.applied(key);
    this.#account = new SqsAccount(this.#clock, {
      onRequest: (event) => {
        if (event.kind !== "answered" || event.queueName?.startsWith("jobs-dlq")) return;
        this.#judge.answered(event);
        for (const { messageId = "", receiptHandle = "", outcome } of event.entries) {
          if (outcome === "received") this.#held.set(messageId, receiptHandle);
          if (outcome === "deleted") {
            this.#held.delete(messageId);
            this.#trace.note("SQS", `${messageId.slice(0, 8)} is deleted`);
            this.#judge.deleted(messageId);
          }
        }
      },
    });
  }

  /** One that breaks down is told like any other violation, with what was seen until then. */
  async play(): Promise<Outcome> {
    try {
      await this.#playOut();
    } catch (error) {
      this.#judge.brokeDown(error as Error);
    }
    this.#account.close();
    const { violations, seen } = this.#judge;
    const { lines, fleet } = this.#trace;
    const timeline = fleet?.timeline(
      `seed ${this.#history.seed}, profile ${this.#history.profile}`,
    );
    return { violations, seen, trace: lines, ...(timeline !== undefined && { timeline }) };
  }

  async #playOut(): Promise<void> {
    const { incidents, jobs, calmAtMs, places } = this.#history;
    this.#queue = await this.#openQueue();
    for (const job of jobs) this.#clock.schedule(job.sentAtMs, () => void this.#send(job));
    for (let place = 0; place < places; place += 1) await this.#startWorker(place);
    for (const incident of incidents) {
      this.#clock.schedule(incident.atMs, () => void this.#happen(incident));
    }
    this.#clock.schedule(calmAtMs, () => {
      this.#store.calm();
      this.#provider.calm();
    });
    await this.#run(calmAtMs);
    const endsByMs = this.#clock.monotonicMs() + SETTLED_WITHIN_MS;
    while (this.#left() > 0 && this.#clock.monotonicMs() < endsByMs) {
      if (this.#judge.violations.length > 0) break;
      await this.#run(this.#clock.monotonicMs() + STEP_MS);
    }
    const left = this.#left();
    this.#isOver = true;
    for (const worker of this.#places) worker?.signal();
    await this.#run(this.#clock.monotonicMs() + 4 * GRACE_MS);
    for (const worker of this.#places) {
      if (worker?.process.isDead === false) this.#judge.overstayed(worker.process.name);
    }
    if (this.#judge.violations.length === 0)
      await this.#judge.close(left, await this.#deadLetters());
  }

  /** Moves time on; a tick at the end keeps the clock going when nothing else is due. */
  async #run(untilMs: number): Promise<void> {
    let isThere = false;
    this.#clock.schedule(untilMs - this.#clock.monotonicMs(), () => {
      isThere = true;
    });
    await this.#clock.runUntil(untilMs, () => isThere);
  }

  #left(): number {
    const counts = this.#queue?.counts();
    return counts === undefined ? 0 : counts.visible + counts.inFlight + counts.delayed;
  }

  async #openQueue(fault?: (call: ModelCall) => ModelFault | undefined): Promise<ModelLeaseQueue> {
    return await modelLeaseQueue({
      ...{ clock: this.#clock, account: this.#account, callTimeoutMs: CALL_TIMEOUT_MS },
      ...{ name: this.#history.isFifo ? "jobs.fifo" : "jobs", maxReceiveCount: 1_000 },
      ...(fault !== undefined && { fault }),
    });
  }

  async #send(job: JobPlan): Promise<void> {
    const { body, attributes } = message(job.n, this.#clock.wallMs(), {
      tenant: job.tenant,
      type: typeOf(job),
    });
    const content = job.isMalformed === true ? { body: "{" } : { body, attributes };
    const fifo = job.group === undefined ? {} : { groupId: job.group, deduplicationId: `${job.n}` };
    const sent = { ...content, ...fifo } as Parameters<ModelLeaseQueue["send"]>[0];
    // Known before anybody can have it: sending is over before the next timer.
    const messageId = await (this.#queue as ModelLeaseQueue).send(sent);
    this.#judge.sent(messageId, job);
    this.#trace.note("sender", `job ${job.n} is ${messageId.slice(0, 8)}`);
  }

  async #startWorker(place: number): Promise<void> {
    if (this.#isOver) return;
    this.#workers += 1;
    const name = `w${this.#workers}`;
    const process = new SimProcess(name, this.#clock, this.#chance.pick([0, 0, -800, 800]));
    const queue = await this.#openQueue((call) => this.#faultOf(call, name, place));
    const worker = new FleetWorker({
      ...{ process, chance: new Chance(this.#history.seed * 31 + this.#workers) },
      queue: this.#seenBy(process, queue),
      store: this.#store.seenBy(process, () => {}),
      ...{ concurrency: this.#history.concurrency, visibilityMs: this.#history.visibilityMs },
      handler: (job, context) => this.#handler.handle(job, context, process),
      onEvent: (event) => {
        this.#trace.event(name, event);
        this.#judge.hear(name, event);
      },
    });
    this.#places[place] = worker;
    this.#trace.note(name, `starts in place ${place}`);
    this.#trace.fleet?.booted(name);
    void worker.ended.then((report) => {
      if (process.isDead) return;
      this.#trace.note(name, `exits with ${report.exitCode}: ${report.summary}`);
      this.#trace.fleet?.exited(name, report.exitCode);
      this.#judge.exited(name, report);
      process.kill();
    });
  }

  /** The queue as one process reaches it: what comes back waits for the process. */
  #seenBy(process: SimProcess, queue: ModelLeaseQueue): LeaseQueue {
    const { name, fifo, hasDeadLetterQueue, url } = queue;
    return {
      ...{ name, fifo, hasDeadLetterQueue, url },
      receive: async (request) => {
        const receipts = await process.gate(queue.receive(request));
        for (const { receiptHandle, message: received } of receipts) {
          const { messageId, receiveCount } = received;
          this.#judge.received(process.name, receiptHandle, { messageId, receiveCount });
        }
        return receipts;
      },
      changeVisibility: async (entries) => {
        const answers = await process.gate(queue.changeVisibility(entries));
        for (const [index, { receiptHandle, visibilityTimeoutMs }] of entries.entries()) {
          const isUnknown = answers[index]?.kind === "unknown";
          if (isUnknown && visibilityTimeoutMs === 0) this.#judge.perhapsReleased(receiptHandle);
        }
        return answers;
      },
      delete: (handles) => process.gate(queue.delete(handles)),
      deadLetter: (copy) => process.gate(queue.deadLetter(copy)),
    };
  }

  #faultOf(call: ModelCall, worker: string, place: number): ModelFault | undefined {
    this.#judge.called(worker, call);
    const nowMs = this.#clock.monotonicMs();
    const fault = this.#history.callFaults.find(
      (one) =>
        (one.place ?? place) === place &&
        (one.calls === "all" || one.calls === call.kind) &&
        nowMs >= one.atMs &&
        nowMs < one.atMs + one.forMs,
    );
    if (fault === undefined || !this.#chance.isHit(fault.share)) return undefined;
    this.#judge.saw(`fault ${fault.kind}`);
    this.#trace.note(worker, `${call.kind} of ${call.entries} meets ${fault.kind}`);
    this.#trace.fleet?.fault(`${call.kind}: ${fault.kind}`, worker);
    return faultFor(fault);
  }

  async #happen(incident: Incident): Promise<void> {
    this.#trace.note("fate", JSON.stringify(incident));
    const worker = "place" in incident ? this.#places[incident.place] : undefined;
    this.#trace.fleet?.fault(incident.kind, worker?.process.name);
    const isThere = worker !== undefined && !worker.process.isDead;
    switch (incident.kind) {
      case "SIGKILL":
        if (!isThere) return;
        this.#judge.saw("SIGKILL");
        this.#kill(worker);
        this.#clock.schedule(RESTART_MS, () => void this.#startWorker(incident.place));
        return;
      case "SIGSTOP":
      case "suspended":
        if (!isThere) return;
        this.#judge.saw(incident.kind);
        if (incident.kind === "SIGSTOP") worker.process.pause(incident.forMs);
        else worker.process.suspend(incident.forMs);
        return;
      case "clock-step":
        if (!isThere) return;
        this.#judge.saw(incident.kind);
        worker.process.stepWall(incident.byMs);
        return;
      case "second-SIGTERM":
        if (!isThere) return;
        this.#judge.saw(incident.kind);
        worker.signal();
        this.#clock.schedule(incident.afterMs, () => worker.signal());
        return await this.#replace(incident.place, worker);
      case "double-delivery":
        return await this.#deliverTwice();
      case "rolling-deploy":
        this.#judge.saw(incident.kind);
        for (let place = 0; place < this.#history.places; place += 1) await this.#deploy(place);
        return;
      case "deploy-at-once":
        this.#judge.saw(incident.kind);
        for (let place = 0; place < this.#history.places; place += 1) void this.#deploy(place);
        return;
    }
  }

  async #deploy(place: number): Promise<void> {
    const worker = this.#places[place];
    if (worker === undefined || worker.process.isDead || worker.isDraining) return;
    this.#trace.note(worker.process.name, "SIGTERM");
    this.#trace.fleet?.signalled(worker.process.name, GRACE_MS);
    worker.signal();
    await this.#replace(place, worker);
  }

  /** Waits for its end, kills it at the end of its grace, and starts the next one. */
  async #replace(place: number, worker: FleetWorker): Promise<void> {
    const isLate = await Promise.race([
      worker.ended.then(() => false),
      this.#clock.sleep(GRACE_MS).then(() => true),
    ]);
    if (isLate && !worker.process.isDead) {
      this.#judge.saw("killed by the platform");
      this.#trace.note(worker.process.name, "is killed by the platform");
      this.#judge.overstayed(worker.process.name);
      this.#kill(worker);
    }
    await this.#clock.sleep(RESTART_MS);
    if (this.#places[place] === worker) await this.#startWorker(place);
  }

  #kill({ process }: FleetWorker): void {
    this.#trace.fleet?.exited(process.name, "SIGKILL");
    this.#judge.killed(process.name);
    process.kill();
  }

  async #deliverTwice(): Promise<void> {
    const [messageId, ReceiptHandle] = this.#chance.pick([...this.#held]) ?? [];
    if (messageId === undefined) return;
    this.#judge.saw("double-delivery");
    this.#judge.doubled(messageId);
    const QueueUrl = this.#queue?.queueUrl;
    const input = { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 };
    // Its lease may have ended by itself just now.
    await this.#account.perform("ChangeMessageVisibility", input).catch(() => undefined);
  }

  async #deadLetters(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (;;) {
      const receipts = (await this.#queue?.takeDeadLetters()) ?? [];
      if (receipts.length === 0) return found;
      for (const { message: dead } of receipts) {
        const source = dead.attributes["dead_letter_source"]?.value;
        found.add(typeof source === "string" ? JSON.parse(source).message_id : dead.messageId);
      }
    }
  }
}

function faultFor({ kind }: CallFault): ModelFault {
  switch (kind) {
    case "slow-answer":
      return { kind, delayMs: 900 };
    case "slow-request":
      return { kind, delayMs: 900 };
    default:
      return { kind };
  }
}
