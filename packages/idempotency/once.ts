/** Runs a side effect once: decides from its record, marks it started, has it run and recorded. */

import { now } from "@leasehold/clock";
import {
  type Effect,
  type Once,
  type ParkReason,
  PermanentJobError,
  RejectedError,
} from "@leasehold/job";
import {
  type AnyEffect,
  type Attempt,
  assertMayBegin,
  attemptSpanMs,
  runAttempt,
} from "./effect-attempt.ts";
import { decideEffect, type EffectFacts, policyNow } from "./effect-decision.ts";
import { contentHash, providerKey } from "./effect-key.ts";
import { checkEffect } from "./effect-rules.ts";
import { startEffect, takeOver } from "./effect-writes.ts";
import { LedgerUseError } from "./errors.ts";
import type { JobOpener } from "./job-opener.ts";
import type { EffectRecord } from "./ledger-record.ts";
import type { LedgerSession } from "./ledger-session.ts";
import { parkJob } from "./operator-writes.ts";
import { parkedBy } from "./parking.ts";
import type { GatePass } from "./provider-gate.ts";
import { loadResult } from "./result-keeping.ts";

/** An effect that the handler asked for. */
interface Wanted {
  readonly name: string;
  readonly effect: AnyEffect;
  readonly inputHash: string;
}

/** Its provider can be asked now. */
interface Passed extends Wanted {
  readonly pass: GatePass;
}

interface Answer {
  readonly value: unknown;
}

interface Open {
  readonly name: string;
  readonly effect: EffectRecord;
}

/** Each turn has found the record changed. */
const MOST_TURNS = 8;

/** The side effects of one opening of a job. */
export class OnceRunner {
  readonly #session: LedgerSession;
  readonly #opener: JobOpener;
  readonly #running = new Map<
    string,
    { readonly inputHash: string; readonly result: Promise<unknown> }
  >();

  constructor(session: LedgerSession, opener: JobOpener) {
    this.#session = session;
    this.#opener = opener;
  }

  /** What the handler calls. */
  readonly once: Once = <Result, Stored>(
    name: string,
    input: unknown,
    effect: Effect<Result, Stored>,
  ): Promise<Stored> => this.#once(name, input, effect as AnyEffect) as Promise<Stored>;

  /** Resolves when no effect is being worked on any more. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ result }) => result));
  }

  async #once(name: string, input: unknown, effect: AnyEffect): Promise<unknown> {
    checkEffect(name, effect);
    const inputHash = contentHash(`the input of effect ${name}`, input);
    const same = this.#running.get(name);
    if (same !== undefined) {
      if (same.inputHash !== inputHash) throw mismatch(name);
      return await same.result;
    }
    const result = this.#perform({ name, effect, inputHash });
    this.#running.set(name, { inputHash, result });
    return await result.finally(() => this.#running.delete(name));
  }

  async #perform(wanted: Wanted): Promise<unknown> {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      this.#session.assertGoing();
      const answer = await this.#turn(wanted);
      if (answer !== undefined) return answer.value;
    }
    return this.#session.stop({ kind: "busy", retryAtMs: this.#session.nowMs });
  }

  /** Decides and does it; `undefined` when the record had changed under it, to decide anew. */
  async #turn(wanted: Wanted): Promise<Answer | undefined> {
    const session = this.#session;
    const record = session.record?.effects[wanted.name];
    const decision = decideEffect(record, this.#facts(wanted));
    switch (decision.kind) {
      case "stored":
        return { value: await this.#stored(wanted.name, record) };
      case "mismatch":
        throw mismatch(wanted.name);
      case "wait":
        return session.stop({ kind: "busy", retryAtMs: decision.untilMs });
      case "park":
        return await this.#park("outcome-unknown", {
          name: wanted.name,
          effect: record as EffectRecord,
        });
      case "start":
        return await this.#through(wanted, (passed) => this.#start(passed));
      default: {
        const { kind } = decision;
        return await this.#through(wanted, (passed) =>
          this.#takeOver(passed, record as EffectRecord, kind),
        );
      }
    }
  }

  /** Begins only what its provider can be asked for now. */
  async #through<Done>(wanted: Wanted, begin: (passed: Passed) => Promise<Done>): Promise<Done> {
    const { parts, job, request } = this.#session;
    const { receiveCount } = request;
    const answer = parts.gates.enter({ job, effect: wanted.name, receiveCount });
    if (answer.kind === "held") {
      return this.#session.stop({ kind: "held-back", retryAtMs: answer.retryAtMs });
    }
    try {
      return await begin({ ...wanted, pass: answer.pass });
    } finally {
      answer.pass.leave();
    }
  }

  #facts({ inputHash, effect }: Wanted): EffectFacts {
    const { settleMs, ledgerSkewMs } = this.#session.parts.options;
    const { recover, timeoutMs } = effect;
    const { nowMs } = this.#session;
    return { inputHash, recover, timeoutMs, settleMs, ledgerSkewMs, nowMs };
  }

  async #stored(name: string, record: EffectRecord | undefined): Promise<unknown> {
    if (record?.outcome !== "rejected")
      return await loadResult(this.#session, name, record?.result);
    const { reason = "rejected", message } = record.rejection ?? {};
    throw new RejectedError(reason, message);
  }

  /** A first attempt, in the write that opens the job when it is not open yet. */
  async #start(wanted: Passed): Promise<Answer | undefined> {
    const session = this.#session;
    const { name, effect } = wanted;
    if (session.record?.state === "done") throw afterLast(name);
    await assertMayBegin(session, effect.timeoutMs);
    if (session.record === undefined) return await this.#openAndStart(wanted);
    if (session.isTooOld()) return await this.#park("too-old");
    const { leaseUntilMs, nowMs, fence } = session;
    const attempt = this.#attempt(wanted, fence.epoch, session.record.effects[name]);
    session.mayStart(name);
    const started = { name, effect: attempt.own };
    const answer = await session.write(startEffect(fence, started, { leaseUntilMs, nowMs }));
    if (answer === undefined) return session.stop({ kind: "store-down" });
    if (answer.kind === "refused") return void session.judge(answer.record);
    return { value: await runAttempt(session, attempt) };
  }

  async #openAndStart(wanted: Passed): Promise<Answer | undefined> {
    const session = this.#session;
    const { name } = wanted;
    let attempt: Attempt | undefined;
    const make = (epoch: number, previous: EffectRecord | undefined) => {
      const { kind } = decideEffect(previous, this.#facts(wanted));
      attempt = kind === "start" ? this.#attempt(wanted, epoch, previous) : undefined;
      return attempt?.own;
    };
    const outcome = await this.#opener.open({ name, make });
    if (outcome !== undefined) return session.stop(outcome);
    // Opened for another effect, or this one needs a decision of its own.
    if (attempt === undefined || nonceOf(session, name) !== attempt.own.nonce) return undefined;
    return { value: await runAttempt(session, attempt) };
  }

  /** A further attempt, under a nonce of its own: the earlier one cannot end it any more. */
  async #takeOver(
    wanted: Passed,
    previous: EffectRecord,
    policy: "replay" | "query" | "rerun",
  ): Promise<Answer | undefined> {
    const session = this.#session;
    const { parts, job, fence, leaseUntilMs, nowMs } = session;
    const { name, effect } = wanted;
    const recover = policyNow(previous, this.#facts(wanted));
    const lookup = recover.kind === "query" ? recover.lookup : undefined;
    await assertMayBegin(session, effect.timeoutMs);
    const attempt = this.#attempt(wanted, fence.epoch, previous, lookup);
    const about = { oldNonce: previous.nonce, leaseUntilMs, nowMs };
    const answer = await session.write(takeOver(fence, { name, effect: attempt.own }, about));
    if (answer === undefined) return session.stop({ kind: "store-down" });
    if (answer.kind === "refused") return void session.judge(answer.record);
    const { attempts } = attempt.own;
    parts.emit({ kind: "effect.taken-over", job, effect: name, policy, attempt: attempts });
    return { value: await runAttempt(session, attempt) };
  }

  #attempt(
    { name, effect, inputHash, pass }: Passed,
    epoch: number,
    previous: EffectRecord | undefined,
    lookup?: Attempt["lookup"],
  ): Attempt {
    const session = this.#session;
    const { parts, job } = session;
    const since = now(parts.clock);
    const wasSent = previous !== undefined && previous.attempts > 0;
    const own: EffectRecord = {
      state: "started",
      epoch,
      nonce: parts.unique(),
      attempts: (previous?.attempts ?? 0) + 1,
      firstSentAtMs: wasSent ? previous.firstSentAtMs : since.wallMs,
      deadlineAtMs: since.wallMs + attemptSpanMs(session, effect, lookup !== undefined),
      inputHash,
      providerKey: previous?.providerKey ?? providerKey(parts.environment, job, name),
      ...(effect.tombstone === true && { tombstone: true as const }),
    };
    const isLast = () => effect.last === true && this.#running.size === 1;
    return { name, effect, own, since, isLast, pass, ...(lookup !== undefined && { lookup }) };
  }

  /** Parks the job. Returns only when it had changed meanwhile and is still ours. */
  async #park(why: ParkReason, open?: Open): Promise<undefined> {
    const session = this.#session;
    const { parts, job, surroundings } = session;
    const about = open === undefined ? {} : { effect: open.name };
    const parked = await parkedBy(parts, { job, surroundings, why, ...about });
    const seen = session.record;
    if (parked === undefined || seen === undefined) return session.stop(session.putOff());
    const parking = { seen, parked, nowMs: session.nowMs, ...(open !== undefined && { open }) };
    const answer = await session.write(parkJob(session.fence, parking));
    if (answer === undefined) return session.stop({ kind: "store-down" });
    if (answer.kind === "refused") return void session.judge(answer.record);
    parts.emit({ kind: "ledger.parked", job, why, ...about });
    return session.stop({ kind: "parked" });
  }
}

function nonceOf({ record }: LedgerSession, name: string): string | undefined {
  return record?.effects[name]?.nonce;
}

function mismatch(name: string): PermanentJobError {
  return new PermanentJobError(`effect ${name} was begun with another input`);
}

function afterLast(name: string): LedgerUseError {
  return new LedgerUseError(`effect ${name} comes after one that was marked last`);
}
