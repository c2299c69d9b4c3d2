/** One opening of one job: its fence, its view of the record, and the outcome it has come to. */

import {
  type AttemptHistory,
  type ControlOutcome,
  ControlOutcomeError,
  type EffectSurroundings,
  type JobIdentity,
  type OpenRequest,
} from "@leasehold/job";
import { patched } from "./apply-write.ts";
import { LedgerUseError } from "./errors.ts";
import type { Fence } from "./fence.ts";
import type { LedgerParts } from "./ledger-parts.ts";
import { isOpenEffect, type JobRecord } from "./ledger-record.ts";
import type { LedgerWrite, WriteAnswer } from "./ledger-store.ts";
import { isTooOldToProve, whyDead } from "./opening-decision.ts";

const NO_HISTORY: AttemptHistory = { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 };

/** One opening of one job; lazily opened ones have no record until their first effect. */
export class LedgerSession {
  readonly parts: LedgerParts;
  readonly request: OpenRequest;
  readonly owner: string;
  readonly #stopped = new AbortController();
  /** Effects that a lost write may have started. */
  readonly #maybeStarted = new Set<string>();
  #record: JobRecord | undefined;
  #history: AttemptHistory = NO_HISTORY;
  #outcome: ControlOutcome | undefined;
  #isClosed = false;
  #isExcused = false;

  constructor(parts: LedgerParts, request: OpenRequest) {
    this.parts = parts;
    this.request = request;
    this.owner = `${parts.workerId}:${parts.unique()}`;
  }

  get job(): JobIdentity {
    return this.request.job;
  }

  /** The record as this opening knows it; `undefined` until it has been opened in the store. */
  get record(): JobRecord | undefined {
    return this.#record;
  }

  get history(): AttemptHistory {
    return this.#history;
  }

  get outcome(): ControlOutcome | undefined {
    return this.#outcome;
  }

  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** @throws LedgerUseError when nothing opened the job yet */
  get fence(): Fence {
    if (this.#record === undefined) throw new LedgerUseError("the job is not open in the store");
    return { job: this.job, epoch: this.#record.epoch, owner: this.owner };
  }

  /** @throws LedgerUseError when the ledger was opened for counting attempts only */
  get surroundings(): EffectSurroundings {
    const { surroundings } = this.request;
    if (surroundings !== undefined) return surroundings;
    throw new LedgerUseError("this run has no lease to work under: its worker has no job ledger");
  }

  get nowMs(): number {
    return this.parts.clock.wallMs();
  }

  get leaseUntilMs(): number {
    return this.request.surroundings?.leaseUntilMs() ?? 0;
  }

  /** The job is open in the store, by this opening. */
  opened(record: JobRecord, history: AttemptHistory = NO_HISTORY): void {
    this.#record = record;
    this.#history = history;
  }

  /** Comes to an outcome, for good: the first one stands. */
  stop(outcome: ControlOutcome): never {
    this.#outcome ??= outcome;
    const error = new ControlOutcomeError(this.#outcome);
    if (!this.#stopped.signal.aborted) this.#stopped.abort(error);
    throw error;
  }

  /** Whether a failure of this run is not the job's. */
  get isExcused(): boolean {
    return this.#isExcused;
  }

  /** An effect's provider seems to be down: if the run fails, that is not the job's failure. */
  excuse(): void {
    this.#isExcused = true;
  }

  /** The run has ended: nothing is begun any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws ControlOutcomeError when it has come to an outcome */
  assertGoing(): void {
    if (this.#outcome !== undefined) this.stop(this.#outcome);
    if (this.#isClosed) throw new LedgerUseError("the run has ended: await every effect in it");
  }

  /**
   * What a refused write means: comes to an outcome when the job is not ours any more, otherwise
   * takes note of what is stored.
   */
  judge(stored: JobRecord | undefined): void {
    if (stored === undefined) this.stop({ kind: "fenced" });
    if (stored.state === "dead") this.stop({ kind: "dead", reason: whyDead(stored) });
    if (stored.state !== "open") this.stop({ kind: stored.state });
    const isOurs = stored.epoch === this.#record?.epoch && stored.owner === this.owner;
    if (!isOurs) this.stop({ kind: "fenced" });
    this.#record = stored;
  }

  /**
   * Tries a write for a while; what it changed is taken over into the view.
   * @returns `undefined` when the store did not answer in time
   */
  async write(write: LedgerWrite, patienceMs?: number): Promise<WriteAnswer | undefined> {
    const { store, clock, options } = this.parts;
    const untilMs = clock.monotonicMs() + (patienceMs ?? options.writePatienceMs);
    const answer = await store.write(write, { untilMs, onFailure: this.failureOf(write) });
    if (answer?.kind === "applied") this.note(write);
    return answer;
  }

  /** Reports each try of a write that was not answered. */
  failureOf({ name: operation }: LedgerWrite): (error: unknown) => void {
    const { emit } = this.parts;
    return (error) => emit({ kind: "ledger.store-failing", job: this.job, operation, error });
  }

  /** Takes over into the view what a write has changed. */
  note({ patch }: LedgerWrite): void {
    if (this.#record !== undefined) this.#record = patched(this.#record, this.job, patch);
  }

  /** Says that an effect may be started from now on, whatever the answer to its write says. */
  mayStart(effect: string): void {
    this.#maybeStarted.add(effect);
  }

  /**
   * When a record without an open effect may go, in whole seconds; `undefined` while one may be
   * open: one in the record, or one that a lost or late write may have started.
   */
  slidingExpiry(): number | undefined {
    const effects = this.#record?.effects ?? {};
    const names = [...Object.keys(effects), ...this.#maybeStarted];
    const isSettled = names.every((name) => effects[name]?.state === "done");
    return isSettled ? this.finalExpiry() : undefined;
  }

  /** When the record of a job that has ended may go; `undefined` when it is kept for ever. */
  finalExpiry(): number | undefined {
    const isKept = Object.values(this.#record?.effects ?? {}).some(({ tombstone }) => tombstone);
    if (isKept) return undefined;
    return Math.ceil((this.nowMs + this.parts.options.retentionMs) / 1_000) * 1_000;
  }

  /** Whether every effect that was ever started, but for the named one, is known to be closed. */
  allClosedBut(name?: string): boolean {
    const effects = this.#record?.effects ?? {};
    return [...Object.keys(effects), ...this.#maybeStarted].every((other) => {
      const effect = effects[other];
      return other === name || (effect !== undefined && !isOpenEffect(effect));
    });
  }

  /** Whether an earlier record of the job may have been lost. */
  isTooOld(): boolean {
    const { options } = this.parts;
    if (this.#record?.vouched === true) return false;
    return isTooOldToProve({
      jobCreatedAtMs: this.surroundings.createdAtMs,
      recordCreatedAtMs: this.#record?.createdAtMs ?? this.nowMs,
      provableForMs: options.retentionMs - options.expirySlackMs,
      restoredAtMs: options.restoredAtMs,
    });
  }

  /** Comes back as late as is sensible: what stands in the way does not pass by itself. */
  putOff(): ControlOutcome {
    return { kind: "busy", retryAtMs: this.nowMs + this.parts.options.longestBusyMs };
  }
}
