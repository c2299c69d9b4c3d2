/** Opens a job in the store: makes its record or takes the next epoch, or says why it may not. */

import type { AttemptHistory, ControlOutcome } from "@leasehold/job";
import { patched } from "./apply-write.ts";
import { contentHash } from "./effect-key.ts";
import type { EffectRecord, JobRecord } from "./ledger-record.ts";
import type { LedgerSession } from "./ledger-session.ts";
import type { WriteAnswer } from "./ledger-store.ts";
import { type Claim, decideOpening } from "./opening-decision.ts";
import { type Opening, openNew, openNext, parkNew, type Started } from "./opening-writes.ts";
import { parkedBy } from "./parking.ts";

/** An effect to be started in the opening write. */
export interface Starting {
  readonly name: string;
  /** The effect as it is started; `undefined` when it cannot be, as things are. */
  readonly make: (epoch: number, previous: EffectRecord | undefined) => EffectRecord | undefined;
}

/** Each turn has lost against another worker. */
const MOST_TURNS = 8;
const LOST_EVERY_TURN_MS = 1_000;

/** Opens one job, once. */
export class JobOpener {
  readonly #session: LedgerSession;
  #opening: Promise<ControlOutcome | undefined> | undefined;

  constructor(session: LedgerSession) {
    this.#session = session;
  }

  /**
   * Opens the job unless it is open, and starts an effect in the same write where it can. Whoever
   * comes while it is being opened waits for that.
   * @returns why it could not be opened
   */
  async open(starting?: Starting): Promise<ControlOutcome | undefined> {
    if (this.#session.record !== undefined) return undefined;
    this.#opening ??= this.#open(starting).finally(() => {
      this.#opening = undefined;
    });
    return await this.#opening;
  }

  /** Whether this delivery may open a job whose record looks like that. */
  mayOpen(seen: JobRecord): boolean {
    return decideOpening(seen, this.#claim()).kind === "open";
  }

  /** What a write that makes or opens the record says of this delivery. */
  opening(started?: Started): Opening {
    const session = this.#session;
    const { messageId, receiveCount, job, surroundings } = session.request;
    const expiresAtMs = started === undefined ? session.finalExpiry() : undefined;
    return {
      ...{ job, messageId, receiveCount, owner: session.owner, nowMs: session.nowMs },
      leaseUntilMs: session.leaseUntilMs,
      payloadHash: surroundings === undefined ? "" : contentHash("payload", surroundings.payload),
      ...(expiresAtMs !== undefined && { expiresAtMs }),
    };
  }

  async #open(starting?: Starting): Promise<ControlOutcome | undefined> {
    const session = this.#session;
    let seen: JobRecord | undefined;
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const decision = seen === undefined ? undefined : decideOpening(seen, this.#claim());
      if (decision !== undefined && decision.kind !== "open") return decision;
      if (seen === undefined && this.#isUnproved(starting)) {
        const parking = await this.#parkUnproved();
        if (parking.kind !== "refused") return parking;
        seen = parking.record;
        continue;
      }
      const started = this.#startedIn(seen, starting);
      const opening = this.opening(started);
      const write =
        seen === undefined ? openNew(opening, started) : openNext(seen, opening, started);
      const answer = await session.write(write);
      if (answer === undefined) return { kind: "store-down" };
      if (answer.kind === "applied") {
        this.#opened(seen, answer.record ?? patched(seen, session.job, write.patch));
        return undefined;
      }
      seen = answer.record;
    }
    return { kind: "busy", retryAtMs: session.nowMs + LOST_EVERY_TURN_MS };
  }

  #opened(seen: JobRecord | undefined, record: JobRecord): void {
    const { parts, job } = this.#session;
    this.#session.opened(record, historyOf(seen, record));
    if (seen !== undefined && seen.payloadHash !== record.payloadHash) {
      parts.emit({ kind: "ledger.payload-differs", job });
    }
  }

  /** An effect that cannot be started as things are is decided on once the job is open. */
  #startedIn(seen: JobRecord | undefined, starting: Starting | undefined): Started | undefined {
    const previous = starting === undefined ? undefined : seen?.effects[starting.name];
    const effect = starting?.make((seen?.epoch ?? 0) + 1, previous);
    if (starting === undefined || effect === undefined) return undefined;
    this.#session.mayStart(starting.name);
    return { name: starting.name, effect };
  }

  #claim(): Claim {
    const { request, parts, nowMs } = this.#session;
    const { messageId, receiveCount, redriven = false } = request;
    const { ledgerSkewMs, longestBusyMs } = parts.options;
    return { messageId, receiveCount, redriven, nowMs, ledgerSkewMs, longestBusyMs };
  }

  #isUnproved(starting: Starting | undefined): boolean {
    const { request } = this.#session;
    const isGuarded = starting !== undefined || request.guard === true;
    return isGuarded && request.surroundings !== undefined && this.#session.isTooOld();
  }

  /** There may be no record, and at this age that proves nothing; refused when there is one. */
  async #parkUnproved(): Promise<ControlOutcome | Extract<WriteAnswer, { kind: "refused" }>> {
    const session = this.#session;
    const { parts, job, surroundings } = session;
    const parked = await parkedBy(parts, { job, surroundings, why: "too-old" });
    if (parked === undefined) return session.putOff();
    const answer = await session.write(parkNew(this.opening(), parked));
    if (answer === undefined) return { kind: "store-down" };
    if (answer.kind === "refused") return answer;
    parts.emit({ kind: "ledger.parked", job, why: "too-old" });
    return { kind: "parked" };
  }
}

/** A dead job that is opened again starts anew. */
function historyOf(seen: JobRecord | undefined, opened: JobRecord): AttemptHistory | undefined {
  if (seen === undefined || seen.state === "dead") return undefined;
  const { failures, interruptions, putOffs, starts, endings } = opened;
  const before = starts - 1;
  return { failures, interruptions, putOffs, crashes: Math.max(0, before - endings) };
}
