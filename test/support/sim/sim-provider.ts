/** A provider that counts what was applied; its requests may land late and its answers be lost. */

import { NotSentError, RejectedError } from "@leasehold/job";
import type { Chance } from "./chance.ts";
import type { SimClock } from "./sim-clock.ts";
import type { SimProcess } from "./sim-process.ts";

/** How a provider behaves. */
export interface ProviderBehaviour {
  /** How long it knows a key; 0 when it knows none, and every request that lands is applied. */
  readonly keyWindowMs: number;
  /** The latest that a request lands after it was sent. */
  readonly latestLandingMs: number;
  /** Share of requests that something happens to. */
  readonly faultShare: number;
  /** Share of keys that it declines, each time. */
  readonly declinedShare: number;
}

/** What was applied once. */
export interface Applied {
  readonly key: string;
  readonly id: string;
  readonly atMs: number;
  readonly sending: Sending;
}

/** One request, as its sender saw it. */
export interface Sending {
  readonly from: SimProcess;
  /** When its sender last looked whether it may send. */
  readonly checkedAtMs: number;
  readonly sentAtMs: number;
}

const ANSWERS_WITHIN_MS = 200;

/** The provider. */
export class SimProvider {
  readonly applied: Applied[] = [];
  inFlight = 0;
  /** Hears of each request that lands and is applied. */
  onApplied: (key: string) => void = () => {};
  /** Hears of each look that finds an effect more than once, as whoever looks does. */
  onDoubled: () => void = () => {};
  readonly #clock: SimClock;
  readonly #chance: Chance;
  readonly #behaviour: ProviderBehaviour;
  readonly #declined = new Map<string, boolean>();
  #calm = false;

  constructor(clock: SimClock, chance: Chance, behaviour: ProviderBehaviour) {
    this.#clock = clock;
    this.#chance = chance;
    this.#behaviour = behaviour;
  }

  /** From now on nothing happens to its requests. */
  calm(): void {
    this.#calm = true;
  }

  countOf(key: string): number {
    return this.applied.filter((one) => one.key === key).length;
  }

  isDeclined(key: string): boolean {
    const known = this.#declined.get(key);
    if (known !== undefined) return known;
    const isDeclined = this.#chance.isHit(this.#behaviour.declinedShare);
    this.#declined.set(key, isDeclined);
    return isDeclined;
  }

  /** Sends a request from a process; what comes back waits while that one stands still. */
  async charge(
    key: string,
    from: SimProcess,
    checkedAtMs: number = this.#clock.monotonicMs(),
  ): Promise<{ readonly id: string }> {
    const chance = this.#chance;
    const sending = { from, checkedAtMs, sentAtMs: this.#clock.monotonicMs() };
    const isFaulty = !this.#calm && chance.isHit(this.#behaviour.faultShare);
    const fault = isFaulty
      ? chance.pick(["not-sent", "late", "late", "reply-lost", "error-after"] as const)
      : "none";
    if (fault === "not-sent") {
      await from.gate(this.#clock.sleep(10));
      throw new NotSentError("connection refused");
    }
    const landing =
      fault === "late"
        ? chance.between(500, this.#behaviour.latestLandingMs)
        : chance.between(5, 100);
    this.inFlight += 1;
    const landed = this.#clock.sleep(landing).then(() => {
      this.inFlight -= 1;
      return this.#land(key, sending);
    });
    if (fault === "reply-lost") return await from.gate(new Promise(() => {}));
    const answer = landed.then(async (result) => {
      await this.#clock.sleep(chance.between(1, ANSWERS_WITHIN_MS));
      if (fault === "error-after") throw new Error("502 after the effect");
      if (result === undefined) throw new RejectedError("card_declined");
      return result;
    });
    answer.catch(() => {}); // the process may be dead
    return await from.gate(answer);
  }

  /** What it knows of a key now. */
  async find(key: string, from: SimProcess): Promise<{ readonly id: string } | undefined> {
    const isFaulty = !this.#calm && this.#chance.isHit(this.#behaviour.faultShare / 4);
    const asked = this.#clock.sleep(this.#chance.between(5, 300)).then(() => {
      if (isFaulty) throw new Error("503 at the lookup");
      return this.applied.filter((one) => one.key === key);
    });
    asked.catch(() => {});
    const [found, ...others] = await from.gate(asked);
    if (others.length > 0) this.onDoubled();
    return found && { id: found.id };
  }

  #land(key: string, sending: Sending): { readonly id: string } | undefined {
    if (this.isDeclined(key)) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const known = this.applied.find(
      (one) => one.key === key && nowMs - one.atMs < this.#behaviour.keyWindowMs,
    );
    if (known !== undefined) return { id: known.id };
    const applied = { key, id: `ch_${this.applied.length + 1}`, atMs: nowMs, sending };
    this.applied.push(applied);
    this.onApplied(key);
    return { id: applied.id };
  }
}
