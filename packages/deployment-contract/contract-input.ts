/** What a service writes down: a preset, its names, and the numbers that differ. */

import type {
  EffectContract,
  LeaseContract,
  LivenessContract,
  PlatformContract,
  PresetName,
  ShutdownContract,
  WorkerContract,
} from "./deployment-contract.ts";

/** A contract as written: what is left out comes from the preset or the table of defaults. */
export interface ContractInput {
  readonly preset: PresetName;
  readonly service: string;
  readonly queues: readonly QueueInput[];
  readonly platform?: PlatformInput;
  readonly shutdown?: Partial<ShutdownContract>;
  readonly lease?: Partial<LeaseContract>;
  readonly worker?: Partial<WorkerContract>;
  /** @defaultValue `{ kind: "none" }` */
  readonly ledger?: LedgerInput;
}

/** See `PlatformContract`. */
export interface PlatformInput extends Partial<Omit<PlatformContract, "liveness">> {
  readonly liveness?: Partial<LivenessContract>;
}

/** See `QueueContract`; only the name is required. */
export interface QueueInput {
  readonly name: string;
  readonly fifo?: boolean;
  readonly waitMs?: number;
  readonly retentionMs?: number;
  readonly maxReceiveCount?: number;
  readonly deadLetter?: { readonly name?: string; readonly retentionMs?: number };
  readonly weight?: number;
}

/** See `LedgerContract`. */
export type LedgerInput =
  | { readonly kind: "none" }
  | {
      readonly kind: "dynamodb";
      readonly tableName?: string;
      readonly doneRetentionMs?: number;
      readonly ledgerSkewMs?: number;
      readonly settleMs?: number;
      readonly effects?: readonly EffectContract[];
    };
