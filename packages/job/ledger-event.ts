/** What the ledger reports; nothing here is logged by the ledger itself. */

import type { JobIdentity } from "./identity.ts";

/** Why a job waits for an operator. */
export type ParkReason =
  | "outcome-unknown"
  /** Its record may have expired, or a restore of the table may have erased it. */
  | "too-old"
  /** An earlier attempt turned out to have happened after a later one had been rejected. */
  | "applied-after-rejection";

interface OfJob {
  readonly job: JobIdentity;
}

interface OfEffect extends OfJob {
  readonly effect: string;
}

/** Everything that the ledger reports. `alarm` says that a person must look at it. */
export type LedgerEvent =
  /** An earlier attempt is taken over: by which policy, and as which attempt. */
  | (OfEffect & {
      readonly kind: "effect.taken-over";
      readonly policy: "replay" | "query" | "rerun";
      readonly attempt: number;
    })
  /** An attempt ended and nobody knows whether it happened. */
  | (OfEffect & { readonly kind: "effect.unknown"; readonly attempt: number })
  /**
   * The effect's provider is down: no job calls it until a probe after `pauseMs`. Said again whenever a
   * probe fails. `job` is the one that found out.
   */
  | (OfEffect & {
      readonly kind: "effect.circuit-opened";
      readonly pauseMs: number;
      /** Since it was first said. */
      readonly outageMs: number;
    })
  /** The pause is over: `job` calls it, and all others wait for what becomes of that. */
  | (OfEffect & { readonly kind: "effect.circuit-probed" })
  /** It answers again. */
  | (OfEffect & { readonly kind: "effect.circuit-closed"; readonly outageMs: number })
  /** The provider wants a pause: no job of the type calls it before that is over. */
  | (OfEffect & { readonly kind: "effect.rate-limited"; readonly retryAfterMs: number })
  /**
   * It happened, and the store does not take it: `final` when the process gives up, otherwise it is
   * tried on. `reference` is the provider's id.
   */
  | (OfEffect & {
      readonly kind: "effect.completion-unrecorded";
      readonly reference?: string;
      readonly final: boolean;
      readonly alarm: boolean;
    })
  /** An attempt that had been taken over turned out to have happened. */
  | (OfEffect & { readonly kind: "effect.completed-late"; readonly reference?: string })
  /** Two attempts happened, with different results: it happened twice at the provider. */
  | (OfEffect & {
      readonly kind: "effect.results-differ";
      readonly reference?: string;
      readonly alarm: true;
    })
  /** It happened although a later attempt was rejected. */
  | (OfEffect & {
      readonly kind: "effect.applied-after-rejection";
      readonly reference?: string;
      readonly alarm: true;
    })
  /** It happened, and its record is gone: it may happen again. */
  | (OfEffect & {
      readonly kind: "effect.record-missing";
      readonly reference?: string;
      readonly alarm: true;
    })
  /** It happened, and its result could not be kept; it will not be run again. */
  | (OfEffect & { readonly kind: "effect.result-dropped"; readonly why: string })
  | (OfJob & { readonly kind: "ledger.parked"; readonly why: ParkReason; readonly effect?: string })
  /** It should be parked, and its message is too big to be stored: it is put off instead. */
  | (OfJob & { readonly kind: "ledger.unparkable"; readonly why: ParkReason; readonly alarm: true })
  /** The same identity came with another payload. */
  | (OfJob & { readonly kind: "ledger.payload-differs" })
  /** A write or read did not go through and is tried again or given up. */
  | (OfJob & {
      readonly kind: "ledger.store-failing";
      readonly operation: string;
      readonly error: unknown;
    });

/** Hears what the ledger reports; must not throw. */
export type LedgerListener = (event: LedgerEvent) => void;
