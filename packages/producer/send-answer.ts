/** What each answer of SQS means for a message that was sent: sent, refused, not sent, unknown. Pure. */

/**
 * What became of one entry in one call.
 *
 * - `refused`: SQS will not take it, however often it is sent.
 * - `not-sent`: proof that SQS has not taken it (throttled, connection refused, in `Failed[]`).
 * - `unknown`: SQS may have it or not (timeout, reset, 5xx).
 */
export type SendAnswer = { readonly kind: "sent"; readonly messageId: string } | SendFault;

/** An answer that is not the wanted one, and what it was called. */
export interface SendFault {
  readonly kind: "refused" | "not-sent" | "unknown";
  readonly code: string;
  readonly cause?: unknown;
}

/** An entry of `Failed[]`, as the SDK has it. */
export interface FailedEntry {
  readonly Code?: string | undefined;
  readonly SenderFault?: boolean | undefined;
  readonly Message?: string | undefined;
}

const THROTTLED = /throttl|TooManyRequests|OverLimit|SlowDown/i;
/** Refreshed credentials mend these, so they are tried again; SQS has not looked at the message. */
const CREDENTIALS = /^(?:Expired|CredentialsProviderError|RequestTimeTooSkewed|RequestExpired)/;
/** The connection never came about. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** What an entry of `Failed[]` means. */
export function judgeFailedEntry({ Code, SenderFault, Message }: FailedEntry): SendFault {
  const code = Code ?? "Unknown";
  const isFinal = SenderFault === true && !THROTTLED.test(code);
  const cause = Message === undefined ? {} : { cause: new Error(Message) };
  return { kind: isFinal ? "refused" : "not-sent", code, ...cause };
}

interface AwsError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  readonly $retryable?: { readonly throttling?: boolean };
}

/** What an error of the whole call means for each of its entries. */
export function judgeError(error: unknown): SendFault {
  const known: AwsError = typeof error === "object" && error !== null ? error : {};
  const code = faultCode(known);
  return { kind: judge(known, code), code, cause: error };
}

function judge(error: AwsError, code: string): SendFault["kind"] {
  const status = error.$metadata?.httpStatusCode;
  // After a retry of the SDK the last error says nothing about the attempts before it.
  const isOnlyAttempt = (error.$metadata?.attempts ?? 1) <= 1;
  if (CREDENTIALS.test(code)) return isOnlyAttempt ? "not-sent" : "unknown";
  if (NEVER_CONNECTED.has(code)) return isOnlyAttempt ? "not-sent" : "unknown";
  if (status === 429 || error.$retryable?.throttling === true || THROTTLED.test(code)) {
    return isOnlyAttempt ? "not-sent" : "unknown";
  }
  // A 200 with an error is an answer that the SDK could not read, or whose checksum was wrong.
  const isClientFault = status !== undefined && status >= 400 && status < 500 && status !== 408;
  return isClientFault && isOnlyAttempt ? "refused" : "unknown";
}

/** The system's code where there is one (a refused connection is an `Error` by name), else the name. */
function faultCode(error: AwsError): string {
  for (const { code } of [error, (error.cause ?? {}) as AwsError]) {
    if (typeof code === "string" && /^E[A-Z_]+$/.test(code)) return code;
  }
  return typeof error.name === "string" ? error.name : "Unknown";
}
