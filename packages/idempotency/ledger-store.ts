/** Port: conditional writes of one record, whose answers prove an own write that was thought lost. */

import type { JobIdentity } from "@leasehold/job";
import type { EffectState, JobRecord, JobState } from "./ledger-record.ts";

/** Every field of a record but its identity and its effects. */
export type RecordField = Exclude<keyof JobRecord, keyof JobIdentity | "effects">;

/** What must hold in the record for a write to be taken; all that is given. */
export interface WriteCondition {
  /** There is no record. Nothing else is given then. */
  readonly absent?: true;
  readonly epoch?: number;
  readonly owner?: string;
  readonly states?: readonly JobState[];
  readonly effect?: EffectCondition;
  /** Effects that are `done` or `released`. */
  readonly closed?: readonly string[];
  readonly parkToken?: string;
  readonly resendToken?: string;
}

/** What must hold of one effect. */
export interface EffectCondition {
  readonly name: string;
  readonly states: readonly EffectState[];
  /** An effect that is not there is fine, too. @defaultValue false */
  readonly orAbsent?: boolean;
  readonly nonce?: string;
  readonly attempts?: number;
}

/** What a write changes: values as they are to be, never increments, so that it can be repeated. */
export interface RecordPatch {
  readonly set: Readonly<Partial<Pick<JobRecord, RecordField>>>;
  readonly remove?: readonly RecordField[];
  /** Effects as a whole. */
  readonly effects?: JobRecord["effects"];
}

/** One write of one record. */
export interface LedgerWrite {
  /** For events and counters, for example `"start"`. */
  readonly name: WriteName;
  readonly job: JobIdentity;
  readonly condition: WriteCondition;
  readonly patch: RecordPatch;
  /** The answer carries the whole record as it is afterwards. @defaultValue false */
  readonly returnsRecord?: boolean;
}

/** The writes that there are. */
export type WriteName =
  | "open-new"
  | "open-next"
  | "start"
  | "take-over"
  | "release-effect"
  | "unknown-effect"
  | "complete"
  | "complete-and-finish"
  | "complete-late"
  | "park"
  | "checkpoint"
  | "heartbeat"
  | "finish"
  | "end"
  | "cancel"
  | "expire"
  | "resolve"
  | "clear-resend";

/** How a write went. */
export type WriteAnswer =
  /** It holds, by this call or by an earlier one whose answer was lost. */
  | { readonly kind: "applied"; readonly record?: JobRecord }
  /** Its condition does not hold; the record as it is, if there is one. */
  | { readonly kind: "refused"; readonly record: JobRecord | undefined };

/** Which parked jobs are wanted. */
export interface ParkedQuery {
  /** @defaultValue every tenant */
  readonly tenantId?: string;
  /** 1 to 1,000. */
  readonly limit: number;
  /** From the page before. */
  readonly after?: string;
}

/** Parked jobs, of one tenant the oldest first. */
export interface ParkedPage {
  readonly records: readonly JobRecord[];
  /** Where the next page begins; absent after the last. */
  readonly next?: string;
}

/** Where records are kept. Every method may be repeated after a `StoreUnavailableError`. */
export interface LedgerStore {
  /**
   * Makes one write if its condition holds. A refused write is compared with the record: when the
   * record is as the write would make it, an earlier try had succeeded, and it counts as applied.
   * @throws StoreUnavailableError when it is not known whether it was made
   */
  write(write: LedgerWrite): Promise<WriteAnswer>;
  /**
   * Reads one record, after every write that was answered.
   * @throws StoreUnavailableError
   */
  read(job: JobIdentity): Promise<JobRecord | undefined>;
  /** @throws StoreUnavailableError */
  listParked(query: ParkedQuery): Promise<ParkedPage>;
}
