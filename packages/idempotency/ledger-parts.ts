/** What all openings of a ledger have in common. */

import type { Clock } from "@leasehold/clock";
import type { LedgerListener } from "@leasehold/job";
import type { ResolvedLedgerOptions } from "./options.ts";
import type { PatientStore } from "./patient-store.ts";
import type { ProviderGates } from "./provider-gate.ts";
import type { ResultStore } from "./result-store.ts";

/** What all openings of a ledger have in common. */
export interface LedgerParts {
  readonly store: PatientStore;
  readonly clock: Clock;
  readonly options: ResolvedLedgerOptions;
  readonly environment: string;
  readonly workerId: string;
  readonly results?: ResultStore;
  /** Stand before the effects. */
  readonly gates: ProviderGates;
  readonly emit: LedgerListener;
  /** A text that nobody else has. */
  readonly unique: () => string;
  /** Follows work that must be recorded before the process ends. */
  readonly keep: (work: Promise<unknown>) => void;
  /** Aborted when the process ends. */
  readonly stopping: AbortSignal;
}
