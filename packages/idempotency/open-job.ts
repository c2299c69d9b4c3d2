/** A job open in the ledger: once, checkpoint, heartbeat, and the ways to end it. */

import {
  type AttemptHistory,
  type ControlOutcome,
  ControlOutcomeError,
  type EndAnswer,
  type JobCheckpoint,
  type JobEndingNote,
  type Once,
  type OpenJob,
} from "@leasehold/job";
import { toJson } from "./effect-key.ts";
import { LedgerUseError } from "./errors.ts";
import type { JobOpener } from "./job-opener.ts";
import type { LedgerSession } from "./ledger-session.ts";
import { OnceRunner } from "./once.ts";
import { RunEnding } from "./run-ending.ts";
import { heartbeat, saveCheckpoint } from "./run-writes.ts";

/** What a run holds of its job. */
export class OpenedJob implements OpenJob {
  readonly kind = "open";
  readonly once: Once;
  readonly checkpoint: JobCheckpoint;
  readonly #session: LedgerSession;
  readonly #opener: JobOpener;
  readonly #effects: OnceRunner;
  readonly #ending: RunEnding;

  constructor(session: LedgerSession, opener: JobOpener) {
    this.#session = session;
    this.#opener = opener;
    this.#effects = new OnceRunner(session, opener);
    this.#ending = new RunEnding(session, opener);
    this.once = this.#effects.once;
    this.checkpoint = { load: () => this.#load(), save: (value) => this.#save(value) };
  }

  get history(): AttemptHistory {
    return this.#session.history;
  }

  get isDone(): boolean {
    return this.#session.record?.state === "done";
  }

  get outcome(): ControlOutcome | undefined {
    return this.#session.outcome;
  }

  get isExcused(): boolean {
    return this.#session.isExcused;
  }

  get stopped(): AbortSignal {
    return this.#session.stopped;
  }

  get settleAtMs(): number | undefined {
    return this.#ending.settleAtMs;
  }

  get leftOpen(): readonly string[] {
    return this.#ending.leftOpen;
  }

  async heartbeat(leaseUntilMs: number): Promise<void> {
    const session = this.#session;
    if (session.record === undefined && session.outcome === undefined) {
      return await this.#heedCancellation();
    }
    // One that ended has no lease.
    if (session.record?.state !== "open" || session.outcome !== undefined) return;
    const write = heartbeat(session.fence, { leaseUntilMs, nowMs: session.nowMs });
    const answer = await session.write(write, 0);
    if (answer?.kind === "refused") this.#judgeQuietly(answer.record);
  }

  /** A job without a record has nothing that could be taken over; an operator may have cancelled it. */
  async #heedCancellation(): Promise<void> {
    const { parts, job } = this.#session;
    const stored = await parts.store.peek(job);
    const isOpenedMeanwhile = this.#session.record !== undefined;
    if (stored?.state === "cancelled" && !isOpenedMeanwhile) this.#judgeQuietly(stored);
  }

  async end(ending: JobEndingNote): Promise<EndAnswer> {
    // A handler that returns without having awaited its effects has not ended.
    if (ending.kind === "succeeded") await this.#effects.idle();
    this.#session.close();
    return await this.#ending.end(ending);
  }

  #load(): unknown {
    const { record, request } = this.#session;
    if (record === undefined && request.checkpoints !== true) {
      throw new LedgerUseError(
        "a type of job that reads its checkpoint must say checkpoints: true",
      );
    }
    return record?.checkpoint === undefined ? undefined : JSON.parse(record.checkpoint);
  }

  async #save(value: unknown): Promise<void> {
    const session = this.#session;
    session.assertGoing();
    const json = toJson("a checkpoint", value) ?? "null";
    const mostBytes = session.parts.options.inlineBytes;
    const bytes = Buffer.byteLength(json);
    if (bytes > mostBytes) {
      throw new LedgerUseError(`a checkpoint must have at most ${mostBytes} bytes, got ${bytes}`);
    }
    const closed = await this.#opener.open();
    if (closed !== undefined) session.stop(closed);
    const { leaseUntilMs, nowMs, fence } = session;
    const answer = await session.write(saveCheckpoint(fence, json, { leaseUntilMs, nowMs }));
    if (answer === undefined) return session.stop({ kind: "store-down" });
    if (answer.kind === "refused") session.judge(answer.record);
  }

  #judgeQuietly(record: Parameters<LedgerSession["judge"]>[0]): void {
    try {
      this.#session.judge(record);
    } catch (error) {
      if (!(error instanceof ControlOutcomeError)) throw error; // heard by `stopped`
    }
  }
}
