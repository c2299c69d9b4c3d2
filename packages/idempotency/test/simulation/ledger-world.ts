/** Three workers, a queue, a store and a provider, under one clock and one seed. */

import {
  type ControlOutcome,
  type Effect,
  type OpenJob,
  park,
  parseJobId,
  parseJobType,
  parseTenantId,
  query,
  type Recovery,
  RejectedError,
  replay,
  rerun,
} from "@leasehold/job";
import { Chance } from "../../../../test/support/sim/chance.ts";
import { BrokenInvariant, judgeWrite } from "../../../../test/support/sim/ledger-rules.ts";
import { SimClock } from "../../../../test/support/sim/sim-clock.ts";
import { SimProcess } from "../../../../test/support/sim/sim-process.ts";
import { SimProvider } from "../../../../test/support/sim/sim-provider.ts";
import { SimStore, type StoreBehaviour } from "../../../../test/support/sim/sim-store.ts";
import {
  cancelJob,
  createLedger,
  type JobRecord,
  type LedgerEvent,
  type LedgerWrite,
  ParkedJobs,
} from "../../index.ts";
import { message } from "../ledger-setup.ts";
import { SimLease } from "./sim-lease.ts";
import { type SimMessage, SimQueue } from "./sim-queue.ts";

/** The policy under which the effect of a schedule stands. */
export type Policy = Recovery<unknown>["kind"];

/** How long one applied charge was on its way. */
export interface ChargeReport {
  /** From its sender's last look to its sending. */
  readonly pausedMs: number;
  /** From its sender's last look to its landing. */
  readonly lateMs: number;
  /** Its sender was killed before it could have asked the provider what had become of it. */
  readonly isOrphan: boolean;
}

/** What a schedule was made of and came to. */
export interface ScheduleReport {
  /** How often the effect was applied at the provider. */
  readonly applied: number;
  readonly declined: boolean;
  readonly state: JobRecord["state"] | undefined;
  /** How often a message was delivered. */
  readonly deliveries: number;
  /** A pause sat between the last look and the sending, which nothing but the provider can mend. */
  readonly isExcused: boolean;
  readonly alarms: readonly string[];
  /** Applied charges, in order. */
  readonly charges: readonly ChargeReport[];
  readonly seen: Readonly<Record<Sight, number>>;
}

/** What schedules must have in them, to prove anything. */
export type Sight =
  | "takeovers"
  | "lateCompletions"
  | "zombies"
  | "lostReplies"
  | "busy"
  | "parks"
  | "crashes"
  | "redrives"
  | "declined"
  | "cancels";

const VISIBILITY_MS = 30_000;
/** What one attempt at the charge may take. */
export const TIMEOUT_MS = 5_000;
/** The latest that a charge lands after its sending. */
export const SETTLE_MS = 20_000;
const SKEW_MS = 2_000;
/** A sender that was paused wakes, its attempt is over, and the provider shows all by then. */
const LOOKS_WITHIN_MS = 90_000 + TIMEOUT_MS + 2 * SETTLE_MS;
const WINDOW_MS = 600_000;
const FAULTS_UNTIL_MS = 240_000;
const ENDS_BY_MS = 4 * 3_600_000;
const MOST_FAILURES = 4;

const job = {
  tenantId: parseTenantId("acme"),
  jobType: parseJobType("payment.capture"),
  jobId: parseJobId("invoice-7"),
};

/** One schedule, from its seed. */
export class LedgerWorld {
  readonly #clock = new SimClock();
  readonly #chance: Chance;
  readonly #policy: Policy;
  readonly #queue = new SimQueue(this.#clock);
  readonly #store: SimStore;
  readonly #provider: SimProvider;
  readonly #receipts: SimProvider;
  readonly #isGentle: boolean;
  readonly #events: LedgerEvent[] = [];
  readonly #seen: Record<Sight, number> = {
    ...{ takeovers: 0, lateCompletions: 0, zombies: 0, lostReplies: 0, busy: 0, parks: 0 },
    ...{ crashes: 0, redrives: 0, declined: 0, cancels: 0 },
  };
  #fault: unknown;
  #isExcused = false;
  #doubledLooks = 0;
  #unique = 0;
  #key = "";

  /** @param weather - `gentle`: nothing happens but that answers of the store are lost */
  constructor(seed: number, policy: Policy, weather: "foul" | "gentle" = "foul") {
    this.#chance = new Chance(seed);
    this.#policy = policy;
    this.#isGentle = weather === "gentle";
    const chance = this.#chance;
    this.#store = new SimStore(this.#clock, chance, this.#storeBehaviour());
    this.#provider = new SimProvider(this.#clock, chance, {
      keyWindowMs: policy === "replay" ? WINDOW_MS : 0,
      latestLandingMs: policy === "replay" ? 60_000 : SETTLE_MS,
      faultShare: 0.5,
      declinedShare: 0.15,
    });
    this.#receipts = new SimProvider(this.#clock, chance, {
      ...{
        keyWindowMs: WINDOW_MS * 100,
        latestLandingMs: 8_000,
        faultShare: 0.1,
        declinedShare: 0,
      },
    });
    this.#store.onMade = (write, before, after) =>
      this.#guard(() => this.#judge(write, before, after));
    // As the service's own lookup does, which shows all that its provider has under the key.
    this.#provider.onDoubled = () => {
      this.#doubledLooks += 1;
    };
    this.#provider.onApplied = (key) => void this.#guard(() => this.#judgeLanding(key));
  }

  /** Runs it to its end. @throws BrokenInvariant */
  async run(): Promise<ScheduleReport> {
    const chance = this.#chance;
    this.#queue.send("m-1");
    const isDouble = !this.#isGentle && chance.isHit(0.5);
    if (isDouble) this.#queue.send("m-2", chance.between(0, 60_000));
    for (const name of ["w-1", "w-2", "w-3"]) this.#startWorker(name);
    if (this.#isGentle) this.#calmProviders();
    void this.#operate();
    if (!this.#isGentle && chance.isHit(0.05)) void this.#cancelSoon(chance.between(0, 120_000));
    this.#clock.schedule(FAULTS_UNTIL_MS, () => {
      this.#store.calm();
      this.#calmProviders();
    });
    const isOver = () => this.#fault !== undefined || this.#isOver;
    await this.#clock.runUntil(ENDS_BY_MS, isOver);
    if (this.#fault !== undefined) throw this.#fault;
    if (!this.#isOver) throw new BrokenInvariant("the job came to no end");
    // What is on its way still lands.
    await this.#clock.runUntil(
      this.#clock.monotonicMs() + 120_000,
      () => this.#fault !== undefined,
    );
    if (this.#fault !== undefined) throw this.#fault;
    return await this.#report();
  }

  #isOver = false;

  #storeBehaviour(): StoreBehaviour {
    if (this.#isGentle) return { throttled: 0, replyLost: 0.4, landsLate: 0, loses: "once" };
    const isHeavy = this.#chance.isHit(0.5);
    return isHeavy
      ? { throttled: 0.12, replyLost: 0.12, landsLate: 0.07, loses: "again" }
      : { throttled: 0.03, replyLost: 0.03, landsLate: 0.01, loses: "again" };
  }

  #calmProviders(): void {
    this.#provider.calm();
    this.#receipts.calm();
  }

  async #report(): Promise<ScheduleReport> {
    const record = await this.#store.memory.read(job);
    const events = this.#events.map(({ kind }) => kind);
    const count = (kind: LedgerEvent["kind"]) => events.filter((one) => one === kind).length;
    const seen = {
      ...this.#seen,
      takeovers: count("effect.taken-over"),
      lateCompletions: count("effect.completed-late"),
      lostReplies: this.#store.lostReplies,
      parks: count("ledger.parked"),
    };
    const alarms = this.#events.flatMap((event) =>
      "alarm" in event && event.alarm ? [event.kind] : [],
    );
    return {
      applied: this.#provider.applied.length,
      declined: this.#key !== "" && this.#provider.isDeclined(this.#key),
      state: record?.state,
      deliveries: this.#queue.messages.reduce((sum, one) => sum + one.receiveCount, 0),
      isExcused: this.#isExcused,
      alarms: this.#doubledLooks > 0 ? [...alarms, "found-twice"] : alarms,
      charges: this.#provider.applied.map(({ atMs, sending }) => ({
        pausedMs: sending.sentAtMs - sending.checkedAtMs,
        lateMs: atMs - sending.checkedAtMs,
        isOrphan: sending.from.wasDeadBy(sending.sentAtMs + LOOKS_WITHIN_MS),
      })),
      seen,
    };
  }

  /** Whatever breaks a rule ends the schedule, also where nobody would hear it. */
  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #judge(write: LedgerWrite, before: JobRecord | undefined, after: JobRecord): void {
    const charge = after.effects["charge"];
    if (charge !== undefined) this.#key = charge.providerKey;
    judgeWrite(write, before, after, {
      countOf: (key) => this.#provider.countOf(key) + this.#receipts.countOf(key),
      isExcused: this.#isExcused,
    });
  }

  async #judgeLanding(key: string): Promise<void> {
    const record = await this.#store.memory.read(job);
    this.#guard(() => {
      const effect = Object.values(record?.effects ?? {}).find((one) => one.providerKey === key);
      if (effect === undefined) throw new BrokenInvariant("applied without a record");
      const isLate = this.#isExcused;
      if (effect.state === "released" && !isLate)
        throw new BrokenInvariant("applied, but released");
    });
  }

  #startWorker(name: string): void {
    const chance = this.#chance;
    const process = new SimProcess(name, this.#clock, chance.between(-SKEW_MS / 2, SKEW_MS / 2));
    const ledger = createLedger({
      store: this.#store.seenBy(process, () => this.#trip(process)),
      clock: process,
      environment: "sim",
      workerId: name,
      onEvent: (event) => this.#events.push(event),
      unique: () => `u${++this.#unique}`,
      random: () => chance.next(),
      options: { settleMs: SETTLE_MS, ledgerSkewMs: SKEW_MS, longestBusyMs: 60_000 },
    });
    const program = async () => {
      while (!process.isDead) {
        const delivery = this.#queue.receive(VISIBILITY_MS, (from) => chance.pick(from));
        if (delivery === undefined) await process.sleep(this.#idleMs());
        else await this.#work(process, ledger, delivery);
      }
    };
    program().catch((error: unknown) => {
      this.#fault ??= error;
    });
  }

  #idleMs(): number {
    const nextAtMs = this.#queue.nextVisibleAtMs();
    const waitMs = nextAtMs === undefined ? 30_000 : nextAtMs - this.#clock.monotonicMs();
    return Math.max(1, waitMs) + this.#chance.between(0, 200);
  }

  /** Now and then a process stands still or dies, at any of its requests. */
  #trip(process: SimProcess): void {
    if (this.#isGentle || this.#clock.monotonicMs() > FAULTS_UNTIL_MS) return;
    const chance = this.#chance;
    if (chance.isHit(0.03)) this.#pause(process, chance.between(500, 90_000));
    else if (chance.isHit(0.02)) this.#crash(process);
  }

  #pause(process: SimProcess, durationMs: number): void {
    if (durationMs > VISIBILITY_MS) this.#seen.zombies += 1;
    process.pause(durationMs);
  }

  #crash(process: SimProcess): void {
    this.#seen.crashes += 1;
    process.kill();
    this.#clock.schedule(this.#chance.between(100, 5_000), () => this.#startWorker(process.name));
  }

  async #work(
    process: SimProcess,
    ledger: ReturnType<typeof createLedger>,
    delivery: { readonly message: SimMessage; readonly receiveCount: number },
  ): Promise<void> {
    const chance = this.#chance;
    const lease = new SimLease(process, this.#queue, delivery.message);
    const opening = await ledger.open({
      job,
      messageId: delivery.message.messageId,
      receiveCount: delivery.receiveCount,
      guard: chance.isHit(0.3),
      surroundings: lease.surroundings(message),
    });
    if (opening.kind !== "open") return await this.#obey(lease, opening);
    lease.keep((leaseUntilMs) => void opening.heartbeat(leaseUntilMs));
    const ending = await this.#handle(process, opening);
    const isSpent = ending === "failed" && opening.history.failures + 1 >= MOST_FAILURES;
    const note = isSpent
      ? ({ kind: "given-up", reason: { code: "spent", detail: "" } } as const)
      : ({ kind: ending } as const);
    const answer = await opening.end(note);
    if (answer.kind === "unsettled")
      return await lease.release(answer.retryAtMs - process.wallMs());
    if (answer.kind === "stopped") return await this.#obey(lease, answer.outcome);
    if (isSpent) return await this.#deadLetter(lease);
    if (ending === "succeeded") return await this.#ack(lease);
    const settleMs = Math.max(0, (opening.settleAtMs ?? 0) - process.wallMs());
    await lease.release(Math.max(settleMs, chance.between(500, 5_000)));
  }

  /** What a worker does with its message when the ledger says how it ends. */
  async #obey(lease: SimLease, outcome: ControlOutcome): Promise<void> {
    switch (outcome.kind) {
      case "busy":
        this.#seen.busy += 1;
        return await lease.release(outcome.retryAtMs - lease.process.wallMs());
      case "done":
      case "cancelled":
        return await this.#ack(lease);
      case "parked":
        return await this.#ack(lease, "parked");
      case "dead":
        return await this.#deadLetter(lease);
      case "store-down":
      case "draining":
        return await lease.release(3_000);
      default:
        return lease.drop();
    }
  }

  async #ack(lease: SimLease, why?: "parked"): Promise<void> {
    const record = await this.#store.memory.read(job);
    if (!(await lease.delete())) return;
    this.#guard(() => {
      // What was parked may have been resolved since: then another message is on its way for it.
      const isResolved = why === "parked" && record?.resolution !== undefined;
      const isOver = record !== undefined && (record.state !== "open" || isResolved);
      if (!isOver) throw new BrokenInvariant(`acked a job that is ${record?.state}`);
      if (record.state === "parked" && record.parked?.message === undefined) {
        throw new BrokenInvariant("acked a parked job without its message");
      }
    });
    const isEnd = record?.state === "done" || record?.state === "cancelled";
    if (this.#queue.isEmpty && isEnd) this.#isOver = true;
  }

  /** An operator redrives it: a new message with an id of its own. */
  async #deadLetter(lease: SimLease): Promise<void> {
    if (!(await lease.delete())) return;
    this.#seen.redrives += 1;
    this.#queue.send(`redriven-${this.#seen.redrives}`, 10_000);
  }

  async #handle(process: SimProcess, opened: OpenJob): Promise<"succeeded" | "failed"> {
    try {
      await opened.once("charge", await this.#input(), this.#chargeBy(process));
      const record = await this.#store.memory.read(job);
      if (record?.effects["charge"]?.state !== "done") {
        throw new BrokenInvariant("once returned before its completion was recorded");
      }
    } catch (error) {
      if (error instanceof BrokenInvariant) this.#fault ??= error;
      if (error instanceof RejectedError) this.#seen.declined += 1;
      else if (!(await this.#isCareless())) return "failed";
    }
    try {
      await opened.once("receipt", 7, this.#receiptBy(process));
      return "succeeded";
    } catch {
      return "failed";
    }
  }

  /** A careless handler goes on although nobody knows of its charge, as if it had happened. */
  async #isCareless(): Promise<boolean> {
    const state = (await this.#store.memory.read(job))?.effects["charge"]?.state;
    return (state === "unknown" || state === "started") && this.#chance.isHit(0.15);
  }

  /** Now and then a faulty release of the service charges another amount. */
  async #input(): Promise<number> {
    const record = await this.#store.memory.read(job);
    const isFoul = !this.#isGentle && this.#clock.monotonicMs() < FAULTS_UNTIL_MS;
    const isFaulty = isFoul && record?.effects["charge"] !== undefined && this.#chance.isHit(0.03);
    return isFaulty ? 8 : 7;
  }

  #chargeBy(process: SimProcess): Effect<unknown> {
    return {
      timeoutMs: TIMEOUT_MS,
      recover: this.#recovery(process),
      run: async ({ key }) => {
        const checkedAtMs = this.#clock.monotonicMs();
        const isFoul = !this.#isGentle && this.#clock.monotonicMs() < FAULTS_UNTIL_MS;
        if (isFoul && this.#chance.isHit(0.02)) {
          const pausedMs = this.#chance.between(100, 60_000);
          this.#pause(process, pausedMs);
          if (pausedMs > TIMEOUT_MS) this.#isExcused = true;
          await process.gate(Promise.resolve());
        }
        const answer = this.#provider.charge(key, process, checkedAtMs);
        // Its answer then waits, until another worker may have taken the effect over.
        if (isFoul && this.#chance.isHit(0.05)) {
          this.#pause(process, this.#chance.between(1_000, 90_000));
        }
        return await answer;
      },
    };
  }

  #receiptBy(process: SimProcess): Effect<unknown> {
    return {
      timeoutMs: TIMEOUT_MS,
      recover: replay({ windowMs: WINDOW_MS * 100, after: park() }),
      run: ({ key }) => this.#receipts.charge(key, process),
      last: this.#chance.isHit(0.5),
    };
  }

  #recovery(process: SimProcess): Recovery<unknown> {
    switch (this.#policy) {
      case "replay":
        return replay({ windowMs: WINDOW_MS, after: park() });
      case "query":
        return query(async ({ key }) => {
          const found = await this.#provider.find(key, process);
          return found === undefined ? { kind: "absent" } : { kind: "applied", result: found };
        });
      case "park":
        return park();
      case "rerun":
        return rerun();
    }
  }

  async #cancelSoon(afterMs: number): Promise<void> {
    await this.#clock.sleep(afterMs);
    const cancelled = await cancelJob(
      { store: this.#store.memory, clock: this.#clock, retentionMs: WINDOW_MS },
      ...([job, "operator"] as const),
    );
    if (cancelled.kind !== "cancelled") return;
    this.#seen.cancels += 1;
    // A parked job has no message left that could be acked.
    if (this.#queue.isEmpty) this.#isOver = true;
  }

  /** Looks at parked jobs now and then, asks the provider, and says what it found. */
  async #operate(): Promise<void> {
    const parked = new ParkedJobs({
      store: this.#store.memory,
      clock: this.#clock,
      send: async () => void this.#queue.send(`resent-${++this.#unique}`),
    });
    for (;;) {
      await this.#clock.sleep(this.#chance.between(60_000, 120_000));
      if (this.#isOver) return;
      const { records } = await parked.list({ limit: 10 });
      const name = records[0]?.parked?.effect;
      if (records[0] === undefined || this.#provider.inFlight > 0) continue;
      const key = name === undefined ? "" : (records[0].effects[name]?.providerKey ?? "");
      const found = [...this.#provider.applied, ...this.#receipts.applied].find(
        (one) => one.key === key,
      );
      const verdict =
        found === undefined
          ? ({ kind: "not-done" } as const)
          : ({ kind: "done", result: { id: found.id } } as const);
      try {
        const word = { by: "operator", ...(name !== undefined && { effect: name }) };
        await parked.resolve(job, verdict, word);
      } catch (error) {
        if ((error as { code?: string }).code !== "RESOLVE_REFUSED") this.#fault ??= error;
      }
    }
  }
}
