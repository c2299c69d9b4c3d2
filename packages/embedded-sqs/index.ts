/** The entrance: names handed on, nothing else. */

export type { ActionInput, ActionName, ActionOutput } from "./actions.ts";
export { type EmbeddedSqs, type EmbeddedSqsOptions, startEmbeddedSqs } from "./embedded-sqs.ts";
export { DamagedStateError, SqsError } from "./errors.ts";
export type { AccountOptions } from "./options.ts";
export type {
  RequestAnswered,
  RequestBegun,
  RequestEntry,
  RequestObserver,
} from "./request-log.ts";
export {
  type AccountReport,
  type QueueReport,
  type RequestOptions,
  SqsAccount,
} from "./sqs-account.ts";
