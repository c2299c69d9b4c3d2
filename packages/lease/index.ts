/** The entrance: names handed on, nothing else. */

export { DEAD_LETTER_ATTRIBUTES, deadLetterCopy } from "./dead-letter.ts";
export { ClaimFailedError, LeaseLostError, LeaseTransitionError } from "./errors.ts";
export type { TaperResult } from "./extender.ts";
export {
  type ExtenderThread,
  type ExtenderThreadParts,
  startExtenderThread,
} from "./extender-thread.ts";
export type { Turn } from "./fifo-groups.ts";
export type { DeadLetterReason, EndOutcome, Lease } from "./lease.ts";
export type { LeaseEvent, LeaseRef, LostCause, ReleaseClass } from "./lease-event.ts";
export type {
  CallAnswer,
  DeadLetterCopy,
  LeaseQueue,
  MessageAttribute,
  Receipt,
  ReceivedMessage,
  ReceiveRequest,
  VisibilityChange,
} from "./lease-queue.ts";
export {
  type ClaimRequest,
  type LeaseSource,
  type LeaseSourceParts,
  openLeaseSource,
} from "./lease-source.ts";
export {
  isOpen,
  type LeaseState,
  type LeaseStateEvent,
  type LeaseStateKind,
  transition,
} from "./lease-state.ts";
export { type LeaseOptions, type ResolvedLeaseOptions, resolveLeaseOptions } from "./options.ts";
export {
  type SqsClientOptions,
  type SqsClients,
  type SqsConnection,
  sqsClients,
} from "./sqs-clients.ts";
export { type SqsLeaseQueueParts, sqsLeaseQueue } from "./sqs-lease-queue.ts";
export { receiptOf, type SqsMessage } from "./sqs-message.ts";
export type { StaticCredentials, ThreadConnection } from "./thread-connection.ts";
