/** What each answer of SQS means for a lease: done, refused, not applied, or nobody knows. Pure. */

import type { CallAnswer } from "./lease-queue.ts";

/** One entry of a batch that SQS did not take. */
export interface FailedEntry {
  readonly Code?: string | undefined;
  readonly SenderFault?: boolean | undefined;
}

/** What is read of an error of the SDK, of Node, or of something between. */
interface ErrorFacts {
  readonly code: string;
  readonly status: number | undefined;
  readonly message: string;
  /** Node's name for the system call that failed. */
  readonly systemCall: string | undefined;
}

/** SQS and its front say that they did nothing, and why is a matter of time. */
const THROTTLED: ReadonlySet<string> = new Set([
  "KmsThrottled",
  "OverLimit",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
]);

/** No connection came about, so no byte of the request has left. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);
const CONNECTING: ReadonlySet<string> = new Set(["connect", "getaddrinfo"]);

/** The SDK gives a connection timeout no code of its own. */
const CONNECTION_TIMEOUT_TEXT = "did not establish a connection";

/** Thrown by us and by credential providers before anything is sent. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "CredentialsProviderError",
  "TokenProviderError",
  "TooLateToSendError",
]);

/** No more claims from this queue until someone has mended something. */
const FATAL_FOR_CLAIMS: ReadonlySet<string> = new Set([
  "AccessDenied",
  "AccessDeniedException",
  "InvalidAddress",
  "InvalidClientTokenId",
  "InvalidSecurity",
  "KmsAccessDenied",
  "KmsDisabled",
  "KmsInvalidKeyUsage",
  "KmsInvalidState",
  "KmsNotFound",
  "KmsOptInRequired",
  "QueueDoesNotExist",
  "UnrecognizedClientException",
  "UnsupportedOperation",
]);

/**
 * What an error means for every entry of a call on receipts.
 *
 * Only proof counts as `not-applied`. A refusal of the whole call (4xx) is proof that no entry was
 * looked at, so even access denied may be tried again: credentials come back, the lease does not.
 */
export function answerOfError(error: unknown): CallAnswer {
  const facts = read(error);
  const { code, status } = facts;
  if (code === "QueueDoesNotExist") return { kind: "refused", code };
  const isProof = isUnsent(facts) || THROTTLED.has(code) || isClientFault(status);
  return { kind: isProof ? "not-applied" : "unknown", code, cause: error };
}

/** What an error means for a copy on its way to the dead-letter queue. */
export function answerOfSendError(error: unknown): CallAnswer {
  const facts = read(error);
  const { code, status } = facts;
  if (isUnsent(facts) || THROTTLED.has(code)) return { kind: "not-applied", code, cause: error };
  return isClientFault(status)
    ? { kind: "refused", code }
    : { kind: "unknown", code, cause: error };
}

/** What a `Failed[]` entry means for its receipt. */
export function answerOfFailedEntry({ Code, SenderFault }: FailedEntry): CallAnswer {
  const code = shortCode(Code ?? "UnknownFailure");
  const isForGood = SenderFault === true && !THROTTLED.has(code);
  return { kind: isForGood ? "refused" : "not-applied", code };
}

/** What an error means for the claims of a queue. */
export function claimFaultOf(error: unknown): {
  readonly reason: string;
  readonly retryable: boolean;
  readonly detail: string;
} {
  const { code, message } = read(error);
  return { reason: code, retryable: !FATAL_FOR_CLAIMS.has(code), detail: message };
}

function isUnsent({ code, systemCall, message }: ErrorFacts): boolean {
  return (
    NEVER_SENT.has(code) ||
    NOT_CONNECTED.has(code) ||
    CONNECTING.has(systemCall ?? "") ||
    (code === "TimeoutError" && message.includes(CONNECTION_TIMEOUT_TEXT))
  );
}

/** 408 says that the request did not arrive in time, which proves nothing. */
function isClientFault(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 408;
}

function read(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) {
    return { code: "Unexpected", status: undefined, message: String(error), systemCall: undefined };
  }
  const { name, message } = error;
  const { code, syscall, $metadata } = error as Partial<NodeJS.ErrnoException> & {
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  // Node's own errors are all called "Error" and speak by their code; SQS's speak by their name.
  const isNodes = typeof code === "string" && (name === "Error" || name === "AggregateError");
  return {
    code: shortCode(isNodes ? code : name),
    status: $metadata?.httpStatusCode,
    message,
    systemCall: syscall,
  };
}

/** `AWS.SimpleQueueService.NonExistentQueue` and `KMS.ThrottlingException` in the SDK's words. */
function shortCode(code: string): string {
  const bare = code.split("#").at(-1) ?? code;
  const kms = /^KMS\.(\w+?)(?:Exception)?$/i.exec(bare)?.[1];
  if (kms !== undefined) return kms === "Throttling" ? "KmsThrottled" : `Kms${kms}`;
  const last = bare.split(".").at(-1) ?? bare;
  return last === "NonExistentQueue" ? "QueueDoesNotExist" : last;
}
