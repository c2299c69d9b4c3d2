/** Every log field, with its unit: what is not named here is never printed. */

/** How the plain fields of an event are called in a log line. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  // Who and what.
  tenantId: "tenant_id",
  jobId: "job_id",
  jobType: "job_type",
  queue: "queue",
  messageId: "message_id",
  receiveCount: "receive_count",
  attempt: "attempt",
  // How it went.
  outcome: "outcome",
  disposal: "disposal",
  reason: "reason",
  detail: "detail",
  code: "code",
  cause: "cause",
  why: "why",
  rule: "rule",
  mend: "mend",
  during: "during",
  class: "release_class",
  retryable: "retryable",
  started: "started",
  extensionsPaused: "extensions_paused",
  cap: "cap",
  effect: "effect",
  policy: "policy",
  operation: "operation",
  reference: "provider_reference",
  final: "final",
  alarm: "alarm",
  // Durations.
  ageMs: "age_ms",
  heldMs: "held_ms",
  durationMs: "duration_ms",
  delayMs: "delay_ms",
  latencyMs: "abort_latency_ms",
  sinceMs: "since_abort_ms",
  remainingMs: "lease_remaining_ms",
  leaseRemainingMs: "lease_remaining_ms",
  marginMs: "lease_margin_ms",
  visibleInMs: "visible_in_ms",
  retryInMs: "retry_in_ms",
  stalledMs: "stalled_ms",
  shortForMs: "memory_short_ms",
  downForMs: "ledger_down_ms",
  outageMs: "outage_ms",
  pauseMs: "circuit_pause_ms",
  retryAfterMs: "retry_after_ms",
  blockedMs: "blocked_ms",
  sinceLastMs: "since_last_ms",
  // Memory.
  usedBytes: "memory_used_bytes",
  limitBytes: "memory_limit_bytes",
  share: "memory_guard_share",
  // Counts.
  concurrency: "concurrency",
  asked: "asked",
  received: "received",
  entries: "entries",
  leases: "leases",
  refused: "refused",
  inFlight: "in_flight",
  openPolls: "open_polls",
  // An invocation of Lambda.
  requestId: "request_id",
  messages: "messages",
  failures: "failures",
  stillRunning: "still_running",
  timeLeftMs: "time_left_ms",
  // The worker's life.
  phase: "phase",
  from: "from_phase",
  to: "to_phase",
  signal: "signal",
  queues: "queues",
};

/** Points in time, in Unix milliseconds within an event; ISO 8601 in a log line. */
export const TIME_NAMES: Readonly<Record<string, string>> = {
  drainByMs: "drain_by",
  killAtMs: "kill_at",
};

/** Fields that are made for a line and have no plain field behind them. */
const MADE_NAMES = [
  "error_name",
  "error_message",
  "error_stack",
  "exit_code",
  "summary",
  "requested_by",
  /** The shutdown report, whole. */
  "report",
  /** What a handler adds to its own lines. */
  "fields",
] as const;

/** Every field that a line may have beside `level`, `time`, `event`, `msg` and the worker's own. */
export const LOG_FIELDS: ReadonlySet<string> = new Set([
  ...Object.values(FIELD_NAMES),
  ...Object.values(TIME_NAMES),
  ...MADE_NAMES,
]);

/** Names that may carry a payload or a secret; the second net, below the list of allowed fields. */
export const SECRET_NAME: RegExp =
  /payload|body|secret|passw|token|authori[sz]ation|credential|cookie|api.?key|receipt.?handle|(?<!dis)card|iban|cvc|cvv/i;

/** `inFlightAtStart` as `in_flight_at_start`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
