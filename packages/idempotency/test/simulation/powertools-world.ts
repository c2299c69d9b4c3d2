/** The same schedules under a guard as most people have it: a lock that its owner deletes. */

import { Chance } from "../../../../test/support/sim/chance.ts";
import { SimClock } from "../../../../test/support/sim/sim-clock.ts";
import { SimProcess } from "../../../../test/support/sim/sim-process.ts";
import { SimProvider } from "../../../../test/support/sim/sim-provider.ts";
import { message } from "../ledger-setup.ts";
import { SimLease } from "./sim-lease.ts";
import { type SimMessage, SimQueue } from "./sim-queue.ts";

const VISIBILITY_MS = 30_000;
const FAULTS_UNTIL_MS = 240_000;
const ENDS_BY_MS = 4 * 3_600_000;
/** What is left of the time of the run, as the guard was told. */
const IN_PROGRESS_MS = 30_000;

interface Lock {
  readonly status: "in-progress" | "completed";
  readonly untilMs: number;
}

/**
 * A worker behind a guard of this shape: put in-progress if there is none or it has expired, delete it
 * when the function throws, set completed without any condition.
 */
export class PowertoolsWorld {
  readonly #clock = new SimClock();
  readonly #chance: Chance;
  readonly #queue = new SimQueue(this.#clock);
  readonly #provider: SimProvider;
  #lock: Lock | undefined;

  constructor(seed: number) {
    this.#chance = new Chance(seed);
    this.#provider = new SimProvider(this.#clock, this.#chance, {
      ...{ keyWindowMs: 0, latestLandingMs: 20_000, faultShare: 0.5, declinedShare: 0 },
    });
  }

  /** How often the effect was applied. */
  async run(): Promise<number> {
    this.#queue.send("m-1");
    if (this.#chance.isHit(0.5)) this.#queue.send("m-2", this.#chance.between(0, 60_000));
    for (const name of ["w-1", "w-2", "w-3"]) this.#startWorker(name);
    this.#clock.schedule(FAULTS_UNTIL_MS, () => this.#provider.calm());
    await this.#clock.runUntil(ENDS_BY_MS, () => this.#queue.isEmpty);
    await this.#clock.runUntil(this.#clock.monotonicMs() + 120_000, () => false);
    return this.#provider.applied.length;
  }

  #startWorker(name: string): void {
    const process = new SimProcess(name, this.#clock, 0);
    const program = async () => {
      while (!process.isDead && !this.#queue.isEmpty) {
        const delivery = this.#queue.receive(VISIBILITY_MS, (from) => this.#chance.pick(from));
        if (delivery === undefined) await process.sleep(this.#idleMs());
        else await this.#work(process, delivery.message);
      }
    };
    void program();
  }

  #idleMs(): number {
    const nextAtMs = this.#queue.nextVisibleAtMs() ?? 0;
    return Math.max(1, nextAtMs - this.#clock.monotonicMs()) + this.#chance.between(0, 200);
  }

  async #work(process: SimProcess, delivered: SimMessage): Promise<void> {
    const lease = new SimLease(process, this.#queue, delivered);
    lease.surroundings(message);
    lease.keep(() => {});
    try {
      await this.#guarded(process);
      await lease.delete();
    } catch {
      await lease.release(this.#chance.between(500, 5_000));
    }
  }

  async #guarded(process: SimProcess): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    await this.#request(process, () => {
      const isFree = this.#lock === undefined || this.#lock.untilMs < nowMs;
      if (!isFree && this.#lock?.status === "completed") return;
      if (!isFree) throw new Error("already in progress");
      this.#lock = { status: "in-progress", untilMs: nowMs + IN_PROGRESS_MS };
    });
    if (this.#lock?.status === "completed") return;
    try {
      const limit = process.sleep(5_000).then(() => Promise.reject(new Error("timed out")));
      await Promise.race([this.#provider.charge("key", process), limit]);
    } catch (error) {
      await this.#request(process, () => {
        this.#lock = undefined;
      });
      throw error;
    }
    await this.#request(process, () => {
      this.#lock = { status: "completed", untilMs: Number.POSITIVE_INFINITY };
    });
  }

  /** One request to the table, with the faults of the other schedules. */
  async #request(process: SimProcess, effect: () => void): Promise<void> {
    const chance = this.#chance;
    const isFoul = this.#clock.monotonicMs() < FAULTS_UNTIL_MS;
    if (isFoul && chance.isHit(0.03)) process.pause(chance.between(500, 90_000));
    else if (isFoul && chance.isHit(0.02)) {
      process.kill();
      this.#clock.schedule(chance.between(100, 5_000), () => this.#startWorker(process.name));
    }
    const drawn = isFoul ? chance.next() : 1;
    const answer = this.#clock.sleep(chance.between(1, 20)).then(() => {
      if (drawn < 0.075) throw new Error("throttled");
      effect();
      if (drawn < 0.15) throw new Error("reply lost");
    });
    answer.catch(() => {});
    await process.gate(answer);
  }
}
