/** Records how a run ended, and says whether its message may be acked. */

import type { ControlOutcome, EndAnswer, GivenUp, JobEndingNote } from "@leasehold/job";
import { toJson } from "./effect-key.ts";
import type { JobOpener } from "./job-opener.ts";
import { type EffectRecord, isOpenEffect, type JobRecord, openEffects } from "./ledger-record.ts";
import type { LedgerSession } from "./ledger-session.ts";
import type { LedgerWrite } from "./ledger-store.ts";
import { endNew, endNext } from "./opening-writes.ts";
import { endRun, finish } from "./run-writes.ts";

type Counts = Partial<
  Pick<JobRecord, "failures" | "interruptions" | "putOffs" | "endings" | "reason">
> & { readonly state: "open" | "dead" };

/** Outcomes after which the record is somebody else's: nothing is written. */
const FOREIGN: ReadonlySet<ControlOutcome["kind"]> = new Set([
  "fenced",
  "parked",
  "done",
  "cancelled",
  "dead",
]);

/** The ending of one opening of a job. */
export class RunEnding {
  readonly #session: LedgerSession;
  readonly #opener: JobOpener;

  constructor(session: LedgerSession, opener: JobOpener) {
    this.#session = session;
    this.#opener = opener;
  }

  /** When the last open effect will have settled; `undefined` when none is open. */
  get settleAtMs(): number | undefined {
    const ends = Object.values(this.#session.record?.effects ?? {})
      .filter(isOpenEffect)
      .map((effect) => this.#settledAtMs(effect));
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  /** Open effects of earlier runs that have settled and were not asked for in this one. */
  get leftOpen(): readonly string[] {
    const { record, nowMs } = this.#session;
    return openEffects(record).filter((name) => {
      const effect = record?.effects[name] as EffectRecord;
      return effect.epoch !== record?.epoch && this.#settledAtMs(effect) <= nowMs;
    });
  }

  async end(ending: JobEndingNote): Promise<EndAnswer> {
    const { outcome, record } = this.#session;
    if (outcome !== undefined) return await this.#stopped(outcome);
    // The last effect has finished the job; whatever came after it does not matter.
    if (record?.state === "done") return { kind: "recorded" };
    if (ending.kind === "succeeded") return await this.#finish(ending.result);
    if (ending.kind === "given-up") return await this.#giveUp(ending.reason);
    return await this.#record(ending.kind);
  }

  #settledAtMs({ deadlineAtMs }: EffectRecord): number {
    const { settleMs, ledgerSkewMs } = this.#session.parts.options;
    return deadlineAtMs + settleMs + ledgerSkewMs;
  }

  /** The outcome stands, whatever the handler made of it, and it is no failure. */
  async #stopped(outcome: ControlOutcome): Promise<EndAnswer> {
    if (!FOREIGN.has(outcome.kind)) await this.#record("uncounted");
    return { kind: "stopped", outcome: this.#session.outcome ?? outcome };
  }

  async #finish(result: unknown): Promise<EndAnswer> {
    const session = this.#session;
    const { record } = session;
    if (record === undefined) return { kind: "recorded" };
    if (!session.allClosedBut()) return await this.#unsettled();
    const json = this.#smallJson(result);
    const expiresAtMs = session.finalExpiry();
    const write = finish(session.fence, {
      nowMs: session.nowMs,
      closed: Object.keys(record.effects),
      ...(json !== undefined && { result: json }),
      ...(expiresAtMs !== undefined && { expiresAtMs }),
    });
    const { writePatienceMs, effectMarginMs } = session.parts.options;
    const leaseMs = session.request.surroundings?.leaseRemainingMs() ?? 0;
    const answer = await this.#write(write, Math.max(writePatienceMs, leaseMs - effectMarginMs));
    const isDown = answer.kind === "stopped" && answer.outcome.kind === "store-down";
    // An ending that nobody recorded would count as the death of this worker, which lives.
    if (isDown) session.parts.keep(this.#record("uncounted"));
    return answer;
  }

  async #unsettled(): Promise<EndAnswer> {
    const answer = this.#stillOpen();
    await this.#record("put-off");
    const { outcome } = this.#session;
    return outcome === undefined ? answer : { kind: "stopped", outcome };
  }

  #stillOpen(): EndAnswer {
    const { record, nowMs } = this.#session;
    return {
      kind: "unsettled",
      retryAtMs: this.settleAtMs ?? nowMs,
      effects: openEffects(record),
    };
  }

  /** Without a record there is nothing that a later delivery could mistake for unfinished work. */
  async #giveUp(reason: GivenUp): Promise<EndAnswer> {
    const { record } = this.#session;
    if (record === undefined) return { kind: "recorded" };
    const failures = record.failures + 1;
    return await this.#end({ state: "dead", failures, endings: record.endings + 1, reason });
  }

  async #record(kind: "failed" | "interrupted" | "put-off" | "uncounted"): Promise<EndAnswer> {
    const { record, isExcused } = this.#session;
    if (record === undefined && (kind === "uncounted" || kind === "put-off")) {
      return { kind: "recorded" };
    }
    const counted = {
      failures: (record?.failures ?? 0) + (kind === "failed" && !isExcused ? 1 : 0),
      interruptions: (record?.interruptions ?? 0) + (kind === "interrupted" ? 1 : 0),
      putOffs: (record?.putOffs ?? 0) + (kind === "put-off" ? 1 : 0),
      endings: (record?.endings ?? 0) + 1,
    };
    return await this.#end({ state: "open", ...counted });
  }

  async #end(counts: Counts): Promise<EndAnswer> {
    const session = this.#session;
    const { nowMs } = session;
    if (session.record === undefined) return await this.#endNew(counts);
    const expiresAtMs = session.slidingExpiry();
    const about = { ...counts, nowMs, ...(expiresAtMs !== undefined && { expiresAtMs }) };
    return await this.#write(endRun(session.fence, about));
  }

  /**
   * Another delivery may have made a record meanwhile: then this one has nothing to add to it. A job
   * that came back from the dead without starting an effect is opened by its ending.
   */
  async #endNew(counts: Counts): Promise<EndAnswer> {
    const session = this.#session;
    const opening = this.#opener.opening();
    const ended = { ...counts, leaseUntilMs: 0 };
    let answer = await session.write(endNew(opening, ended));
    if (answer?.kind === "refused" && answer.record?.state === "dead") {
      const seen = answer.record;
      if (this.#opener.mayOpen(seen)) answer = await session.write(endNext(seen, opening, ended));
    }
    if (answer === undefined) return { kind: "stopped", outcome: { kind: "store-down" } };
    if (answer.kind === "applied" || answer.record?.state === "open") return { kind: "recorded" };
    return this.#judged(answer.record);
  }

  async #write(write: LedgerWrite, patienceMs?: number): Promise<EndAnswer> {
    const session = this.#session;
    const answer = await session.write(write, patienceMs);
    if (answer === undefined) return { kind: "stopped", outcome: { kind: "store-down" } };
    if (answer.kind === "applied") return { kind: "recorded" };
    return this.#judged(answer.record);
  }

  /** What a refusal means. A job that is still ours has an effect that was not known to be open. */
  #judged(stored: JobRecord | undefined): EndAnswer {
    const session = this.#session;
    try {
      session.judge(stored);
    } catch {
      return { kind: "stopped", outcome: session.outcome ?? { kind: "fenced" } };
    }
    return this.#stillOpen();
  }

  /** A result that is too big, or no JSON, is not kept: nobody needs it to know that the job is done. */
  #smallJson(result: unknown): string | undefined {
    try {
      const json = toJson("the result", result);
      const { inlineBytes } = this.#session.parts.options;
      return json !== undefined && Buffer.byteLength(json) <= inlineBytes ? json : undefined;
    } catch {
      return undefined; // see above
    }
  }
}
