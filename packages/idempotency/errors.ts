/** How the ledger refuses, and how its stores fail. */

/** It is not known whether the store did what it was asked: throttled, unreachable, no answer. */
export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
  readonly code = "LEDGER_STORE_UNAVAILABLE";
  /** Which write, or `"read"`. */
  readonly operation: string;

  constructor(operation: string, options?: ErrorOptions) {
    super(`the ledger's store did not answer: ${operation}`, options);
    this.operation = operation;
  }
}

/** `run` took longer than its effect's `timeoutMs`: it may have happened or not. */
export class EffectTimeoutError extends Error {
  override readonly name = "EffectTimeoutError";
  readonly code = "EFFECT_TIMEOUT";
  readonly effect: string;

  constructor(effect: string, timeoutMs: number) {
    super(`effect ${effect} took longer than ${timeoutMs} ms: its outcome is unknown`);
    this.effect = effect;
  }
}

/** The effect has happened and its result could not be kept or found again. */
export class ResultMissingError extends Error {
  override readonly name = "ResultMissingError";
  readonly code = "EFFECT_RESULT_MISSING";
  readonly effect: string;

  constructor(effect: string, why: string, options?: ErrorOptions) {
    super(`effect ${effect} has happened, but its result ${why}`, options);
    this.effect = effect;
  }
}

/** `once` or a checkpoint was used in a way that makes no sense; the message says the mend. */
export class LedgerUseError extends Error {
  override readonly name = "LedgerUseError";
  readonly code = "LEDGER_MISUSED";
}

/** An operator's command does not fit the job as it is. */
export class ResolveRefusedError extends Error {
  override readonly name = "ResolveRefusedError";
  readonly code = "RESOLVE_REFUSED";
}
