/** The entrance: names handed on, nothing else. */

export type { ContractInput, LedgerInput, PlatformInput, QueueInput } from "./contract-input.ts";
export { defineContract } from "./define-contract.ts";
export type {
  DeadLetterContract,
  DeploymentContract,
  DynamodbLedgerContract,
  EffectContract,
  LeaseContract,
  LedgerContract,
  LivenessContract,
  PlatformContract,
  PlatformKind,
  PresetName,
  QueueContract,
  ShutdownContract,
  WorkerContract,
} from "./deployment-contract.ts";
export { type Drift, type LiveTable, queueDrift, tableDrift } from "./drift.ts";
export { type EcsSettings, ecsSettings } from "./ecs-settings.ts";
export { ContractViolationError, InvalidContractError } from "./errors.ts";
export { type Finding, formatFindings, type Rule } from "./finding.ts";
export {
  type KedaSettings,
  type KubernetesSettings,
  kubernetesSettings,
  type ProbeSettings,
} from "./kubernetes-settings.ts";
export { type Preset, presets } from "./presets.ts";
export {
  type QueueAttributes,
  type QueueResource,
  type QueueSettings,
  queueSettings,
  redrivePolicy,
} from "./queue-settings.ts";
export {
  type IndexSettings,
  type KeyAttribute,
  type TableSettings,
  tableSettings,
} from "./table-settings.ts";
export { assertContract, type Verification, verifyContract } from "./verify.ts";
export {
  type DrainTimings,
  type JobTimings,
  type LeaseTimings,
  type ReceiveTimings,
  type WorkerTimings,
  workerTimings,
} from "./worker-timings.ts";
