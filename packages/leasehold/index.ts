/** One import to run a service; every part stays usable alone from its own package. */

export {
  type ContractInput,
  type DeploymentContract,
  defineContract,
  formatFindings,
  type PresetName,
  presets,
  verifyContract,
} from "@leasehold/deployment-contract";
export {
  type AnyJobDefinition,
  type ChildJob,
  type ControlOutcome,
  ControlOutcomeError,
  defineJob,
  type Effect,
  type EffectCall,
  fromEventBridge,
  fromJson,
  fromS3,
  fromSns,
  isOutage,
  type Job,
  type JobContext,
  type JobDefinition,
  type JobHandler,
  type MessageReader,
  NotSentError,
  PermanentJobError,
  park,
  query,
  RejectedError,
  RetryLaterError,
  replay,
  rerun,
  retryAfterMs,
} from "@leasehold/job";
export {
  type CloseReport,
  createProducer,
  type JobKind,
  type JobsProducer,
  type JobToSend,
  type Producer,
  type ProducerEvent,
  type SendResult,
} from "@leasehold/producer";
export type { ShutdownReport, Worker, WorkerEvent, WorkerOptions } from "@leasehold/worker";
export type { AttemptsChoice } from "./attempts-choice.ts";
export { LedgerTableError, QueueLookUpError } from "./errors.ts";
export type { ExtenderChoice } from "./extender-choice.ts";
export {
  type LambdaService,
  type LambdaServiceParts,
  type LambdaWiring,
  openLambdaService,
} from "./lambda-service.ts";
export { createService, type Service, type ServiceParts } from "./leasehold.ts";
export type { DynamodbLedgerChoice, LedgerChoice } from "./ledger-choice.ts";
export type { QueueUrls } from "./queue-directory.ts";
export {
  runWorkerProcess,
  type WorkerProcessParts,
  type WorkerProcessSource,
} from "./run-worker-process.ts";
export type { TaskProtectionChoice } from "./worker-protection.ts";
