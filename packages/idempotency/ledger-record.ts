/**
 * What is remembered about a job and its effects.
 *
 * A job: absent, then `open` (each further opening is the next epoch), and from there `done`,
 * `parked`, `dead` or `cancelled`. A `parked` job is opened again by an operator, a `dead` one by a
 * new message, as the next generation: its failures are forgotten, its effects are not.
 *
 * An effect: absent or `released`, then `started`; from there `done` (final), `released` (nothing was
 * sent, and never before) or `unknown`. An open one is taken over by a later attempt under a new
 * nonce and the same provider key. A late word that it has happened makes it `done` from any state.
 */

import type { GivenUp, JobIdentity, MessageCopy, ParkReason } from "@leasehold/job";

/**
 * Where a job stands. `done` is final but for an effect that turns out to have happened although
 * the provider had rejected it; a `dead` job is opened again by a new message, a `parked` one by an
 * operator.
 */
export type JobState = "open" | "done" | "parked" | "dead" | "cancelled";

/**
 * Where an effect stands. `started` and `unknown` are open: it may have happened. `released` says
 * that it has not, `done` is final.
 */
export type EffectState = "started" | "unknown" | "released" | "done";

/** A result as it is kept. */
export type StoredResult =
  | { readonly kind: "inline"; readonly json: string }
  /** In the result store, under this name. */
  | { readonly kind: "reference"; readonly at: string }
  /** It happened, and its result could not be kept. */
  | { readonly kind: "dropped" };

/** What is remembered about one effect. */
export interface EffectRecord {
  readonly state: EffectState;
  /** Of the opening that started the attempt. */
  readonly epoch: number;
  /** Of the attempt: only who knows it may say how the attempt ended. */
  readonly nonce: string;
  /** How often it may have been sent. */
  readonly attempts: number;
  /** Before the first send, wall time; the provider's window for its keys counts from here. */
  readonly firstSentAtMs: number;
  /** When the attempt has ended at the latest, wall time. */
  readonly deadlineAtMs: number;
  readonly inputHash: string;
  /** Stored before the first send and never changed. */
  readonly providerKey: string;
  /** Of a done effect. */
  readonly outcome?: "ok" | "rejected";
  readonly result?: StoredResult;
  readonly rejection?: { readonly reason: string; readonly message: string };
  /** Completed by an attempt that had been taken over. */
  readonly late?: true;
  /** It happened although another attempt was rejected. */
  readonly lateResult?: StoredResult;
  /** Kept for ever. */
  readonly tombstone?: true;
}

/** A raw message, or where it lies. */
export type StoredMessage =
  | { readonly kind: "inline"; readonly message: MessageCopy }
  | { readonly kind: "reference"; readonly at: string };

/** A job that waits for an operator; stays with the record until its message was sent again. */
export interface Parked {
  readonly atMs: number;
  readonly why: ParkReason;
  readonly effect?: string;
  /** Of this parking, so that a repeated write is known. */
  readonly token: string;
  readonly message: StoredMessage;
}

/** An operator's word on a parked job, and by whom. */
export interface Resolution {
  readonly verdict: "done" | "not-done";
  readonly by: string;
  readonly atMs: number;
  /** How they know. */
  readonly reason?: string;
}

/** What is remembered about a job. All points in time are wall time. */
export interface JobRecord extends JobIdentity {
  readonly state: JobState;
  /** Grows when a dead job is opened again. */
  readonly generation: number;
  /** The fencing token: grows with every opening. */
  readonly epoch: number;
  /** Of the opening: worker and a word of its own. */
  readonly owner: string;
  /** The opening counts as alive until then. */
  readonly leaseUntilMs: number;
  readonly messageId: string;
  readonly receiveCount: number;
  readonly payloadHash: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly putOffs: number;
  /** Recorded openings of this generation, and how many of them have a recorded ending. */
  readonly starts: number;
  readonly endings: number;
  /** JSON. */
  readonly checkpoint?: string;
  /** JSON; of a done job. */
  readonly result?: string;
  /** Why it is dead or cancelled. */
  readonly reason?: GivenUp;
  /** An operator said that nothing happened before this record was made. */
  readonly vouched?: true;
  readonly parked?: Parked;
  readonly resolution?: Resolution;
  /** The stored message must still be sent again; of the resolution that wants it. */
  readonly resendToken?: string;
  /** Whole seconds. Never on a parked job or beside an open effect; never read in a condition. */
  readonly expiresAtMs?: number;
  readonly effects: Readonly<Record<string, EffectRecord>>;
}

/** Whether the effect may have happened without anybody knowing. */
export function isOpenEffect({ state }: EffectRecord): boolean {
  return state === "started" || state === "unknown";
}

/** The names of the effects that may have happened without anybody knowing. */
export function openEffects(record: JobRecord | undefined): readonly string[] {
  return Object.entries(record?.effects ?? {}).flatMap(([name, effect]) =>
    isOpenEffect(effect) ? [name] : [],
  );
}
