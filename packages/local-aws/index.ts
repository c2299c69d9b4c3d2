/** The entrance: names handed on, nothing else. */

export {
  type EmbeddedDynamodb,
  type EmbeddedDynamodbOptions,
  startEmbeddedDynamodb,
} from "./embedded-dynamodb.ts";
export type { AwsClients, AwsMode, Environment } from "./endpoint.ts";
export {
  EndpointUnknownError,
  FolderBusyError,
  ProvisionConflictError,
  type SettingConflict,
  TableNotActiveError,
} from "./errors.ts";
export type { Fault, FaultPlan, FaultRule, FaultSide, ThrottleCode } from "./fault-plan.ts";
export { type FaultProxy, type FaultProxyOptions, startFaultProxy } from "./fault-proxy.ts";
export { faultSyntax, readFaultRules } from "./fault-text.ts";
export {
  type EmbeddedAwsOptions,
  type EndpointAwsOptions,
  type LocalAws,
  type LocalAwsOptions,
  startLocalAws,
} from "./local-aws.ts";
export { type Provisioned, type ProvisionOptions, provision } from "./provision.ts";
export type { ProxiedEntry, ProxiedRequest, ProxyStage } from "./proxied-request.ts";
export type { TableDefinition, TableKeys } from "./table-provisioning.ts";
