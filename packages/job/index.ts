/** What a job is: see `job.ts`; on the wire: `envelope.ts`; to its handler: `job-context.ts`. */

export type {
  AttemptDelivery,
  AttemptLedger,
  AttemptOpening,
  OpenAttempt,
} from "./attempt-ledger.ts";
export { childJobId, deduplicationId, toSqsId } from "./derived-id.ts";
export {
  type Effect,
  type EffectCall,
  type Lookup,
  NotSentError,
  type Once,
  type ParkRecovery,
  park,
  type QueryRecovery,
  query,
  type Recovery,
  RejectedError,
  type ReplayRecovery,
  type RerunRecovery,
  replay,
  rerun,
} from "./effect.ts";
export {
  type EnvelopeReading,
  type MalformedReason,
  type OutgoingJob,
  type RawJob,
  writeEnvelope,
} from "./envelope.ts";
export {
  type AbortCause,
  InvalidIdentityError,
  InvalidPayloadError,
  JobAbortedError,
  PermanentJobError,
  RetryLaterError,
} from "./errors.ts";
export { folderPayloadStore } from "./folder-payload-store.ts";
export {
  type ForeignIdentity,
  type ForeignMessage,
  type ForeignRules,
  fromJson,
  type MessageReader,
  readMessage,
} from "./foreign-message.ts";
export {
  type EventBridgeEvent,
  fromEventBridge,
  fromS3,
  fromSns,
  type S3ObjectEvent,
} from "./foreign-sources.ts";
export {
  type JobId,
  type JobIdentity,
  type JobType,
  MAX_ID_BYTES,
  parseJobId,
  parseJobType,
  parseTenantId,
  type TenantId,
} from "./identity.ts";
export {
  type AnyJobDefinition,
  defineJob,
  type Job,
  type JobDefinition,
  type JobHandler,
} from "./job.ts";
export type {
  ChildJob,
  Done,
  JobContext,
  JobLease,
  JobLog,
  JobMessage,
  JobSender,
  LogFields,
  SentChild,
} from "./job-context.ts";
export {
  type AttemptHistory,
  type ControlOutcome,
  ControlOutcomeError,
  type EffectSurroundings,
  type EndAnswer,
  type GivenUp,
  type JobCheckpoint,
  type JobEndingNote,
  type JobLedger,
  type JobOpening,
  type MessageCopy,
  type OpenJob,
  type OpenRequest,
  type WorkerLedger,
} from "./job-ledger.ts";
export type { LedgerEvent, LedgerListener, ParkReason } from "./ledger-event.ts";
export { isOutage } from "./outage.ts";
export {
  claimPayload,
  fetchPayload,
  type PayloadClaim,
  type PayloadFetch,
} from "./payload-claim.ts";
export { checkPayload, type PayloadCheck } from "./payload-schema.ts";
export type { PayloadRef, PayloadStore } from "./payload-store.ts";
export { readEnvelope } from "./read-envelope.ts";
export { retryAfterMs } from "./retry-after.ts";
