/** A side effect as its author describes it, and what to do when its outcome is unknown. */

/** What `run` and `lookup` are given. */
export interface EffectCall {
  /**
   * The idempotency key for the provider: 64 hexadecimal characters, the same in every attempt of
   * this effect of this job, whoever makes it.
   */
  readonly key: string;
  /** Aborts at the effect's deadline, and when the job must stop. */
  readonly signal: AbortSignal;
  /** The fencing token of this opening of the job; only ever grows. */
  readonly epoch: number;
  /** How often the effect may have been sent, this attempt included. */
  readonly attempt: number;
}

/** What a lookup found out at the provider. */
export type Lookup<Result> =
  | { readonly kind: "applied"; readonly result: Result }
  /** Certain, not merely unlikely: the effect is sent again then. */
  | { readonly kind: "absent" };

/** Asks the provider what became of an earlier attempt. */
export interface QueryRecovery<Result> {
  readonly kind: "query";
  readonly lookup: (call: EffectCall) => Promise<Lookup<Result>>;
  /**
   * How long after an attempt's deadline the provider may still show it for the first time.
   * @defaultValue the ledger's `settleMs`
   */
  readonly settleMs?: number;
}

/** Leaves the decision to an operator. */
export interface ParkRecovery {
  readonly kind: "park";
}

/** Sends again under the same key, as long as the provider is sure to know it. */
export interface ReplayRecovery<Result> {
  readonly kind: "replay";
  /** How long the provider keeps its keys, counted from before the first send. */
  readonly windowMs: number;
  /** What to do once the window is over. */
  readonly after: QueryRecovery<Result> | ParkRecovery;
}

/** Runs it again. Only for effects that are the same done twice. */
export interface RerunRecovery {
  readonly kind: "rerun";
}

/** What to do with an effect that was started and of which nobody knows whether it happened. */
export type Recovery<Result> =
  | ReplayRecovery<Result>
  | QueryRecovery<Result>
  | ParkRecovery
  | RerunRecovery;

/** A side effect. */
export interface Effect<Result, Stored = Result> {
  /** The longest that one `run` may take; the lease reaches that far before it begins. */
  readonly timeoutMs: number;
  /** No policy fits all effects, so there is no default. */
  readonly recover: Recovery<NoInfer<Result>>;
  /**
   * Does it. Whatever it throws means "unknown", but for `NotSentError` and `RejectedError`.
   */
  readonly run: (call: EffectCall) => Promise<Result>;
  /** What of the result is kept, as JSON, and handed back. @defaultValue all of it */
  readonly pick?: (result: Result) => Stored;
  /** The provider's id of what happened, for log lines; never a secret. */
  readonly reference?: (result: Result) => string;
  /**
   * Nothing that matters comes after it: its completion finishes the job in the same write.
   * @defaultValue false
   */
  readonly last?: boolean;
  /**
   * Whether what `run` or `lookup` threw says that the provider is down for everyone. Some of them on
   * end, and no job calls it until it answers again; none of that is a job's failure.
   * @defaultValue failed connections, time limits and HTTP 5xx, in the error or its causes
   */
  readonly isOutage?: (thrown: unknown) => boolean;
  /** Its record is kept for ever: a payment must not happen again after any time. @defaultValue false */
  readonly tombstone?: boolean;
}

/** How a handler has a side effect happen once. */
export type Once = <Result, Stored = Result>(
  name: string,
  input: unknown,
  effect: Effect<Result, Stored>,
) => Promise<Stored>;

/**
 * Sends again under the same provider key while the provider keeps it.
 * @param windowMs - how long the provider keeps its keys; Stripe says 24 hours
 */
export function replay<Result = never>(
  recovery: Pick<ReplayRecovery<Result>, "windowMs" | "after">,
): ReplayRecovery<Result> {
  return { kind: "replay", windowMs: recovery.windowMs, after: recovery.after };
}

/**
 * Asks the provider, and sends again only when it is certain that nothing happened.
 *
 * A worker that stands still between its last check and its sending, for longer than the settle time,
 * can still double the effect. It looks again when it wakes, and once more after the settle time; an
 * alarm is raised when what it finds is not what is recorded. Let `lookup` itself report when the
 * provider shows the effect more than once: whoever finds both first may be another worker.
 */
export function query<Result>(
  lookup: QueryRecovery<Result>["lookup"],
  { settleMs }: { readonly settleMs?: number } = {},
): QueryRecovery<Result> {
  return { kind: "query", lookup, ...(settleMs === undefined ? {} : { settleMs }) };
}

/** Stops the job until an operator says what happened. */
export function park(): ParkRecovery {
  return { kind: "park" };
}

/** Runs it again. Only for effects that are the same done twice. */
export function rerun(): RerunRecovery {
  return { kind: "rerun" };
}

/**
 * Nothing left this process: thrown by `run` only for what provably precedes the first byte of the
 * first wire attempt, never for a connection error of a client that tries again by itself.
 */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
  readonly code = "EFFECT_NOT_SENT";
  /**
   * How long the provider asks to be left alone, for example the `Retry-After` of HTTP 429: no job of
   * the type calls it earlier, and none of them fails by that.
   */
  readonly retryAfterMs?: number;

  constructor(
    message: string,
    { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(message, options);
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** The provider refused, for good: kept, and thrown again in every later run of the job. */
export class RejectedError extends Error {
  override readonly name = "RejectedError";
  readonly code = "EFFECT_REJECTED";
  /** The provider's stable word for it, for example `"card_declined"`. */
  readonly reason: string;
  /**
   * The provider refused the idempotency key, not the effect. On a second attempt that says nothing
   * about the first one.
   */
  readonly refusedKey: boolean;

  constructor(
    reason: string,
    message: string = reason,
    { refusedKey = false, ...options }: ErrorOptions & { readonly refusedKey?: boolean } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.refusedKey = refusedKey;
  }
}
