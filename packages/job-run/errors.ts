/** What goes wrong between a run and its worker. */

/** A handler sends a child job, and the worker was given nothing to send by. */
export class SenderMissingError extends Error {
  override readonly name = "SenderMissingError";
  readonly code = "SENDER_MISSING";

  constructor() {
    super("this worker has no sender: give it one to let jobs send child jobs");
  }
}

/** A handler wants an effect to happen once, or to keep its progress, and there is no job ledger. */
export class LedgerMissingError extends Error {
  override readonly name = "LedgerMissingError";
  readonly code = "LEDGER_MISSING";

  /** @param wanted - what the handler called, for example `"context.once"` */
  constructor(wanted: string) {
    super(
      `${wanted} needs a job ledger, and this worker has none: configure one, for example ` +
        'ledger: { kind: "dynamodb", ... } of the service',
    );
  }
}

/** The ledger of attempts did not answer in time. */
export class LedgerTimeoutError extends Error {
  override readonly name = "LedgerTimeoutError";
  readonly code = "LEDGER_TIMEOUT";

  constructor(timeoutMs: number) {
    super(`the ledger did not answer within ${timeoutMs} ms`);
  }
}

/** The schema of a job did not answer in time: the job is neither right nor wrong. */
export class SchemaTimeoutError extends Error {
  override readonly name = "SchemaTimeoutError";
  readonly code = "SCHEMA_TIMEOUT";
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`its schema did not answer within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** A handler has returned, and an effect that it asked for is still of unknown outcome. */
export class EffectLeftOpenError extends Error {
  override readonly name = "EffectLeftOpenError";
  readonly code = "EFFECT_LEFT_OPEN";

  constructor(effects: readonly string[]) {
    super(
      `the handler returned and nobody knows the outcome of ${effects.join(", ")}: let what once() ` +
        "throws out of the handler, or call once() again in the next run",
    );
  }
}
