/** Sends jobs: see `producer.ts`; what may be sent: `job-to-send.ts`. */

export {
  JobNotAcceptedError,
  JobTooLargeError,
  SendFailedError,
  UnsendableJobError,
} from "./errors.ts";
export type { AnyJobKind, JobKind, KnownJob } from "./job-kind.ts";
export type { JobToSend } from "./job-to-send.ts";
export type { ProducerOptions } from "./options.ts";
export type { TypedJobToSend, UnpreparedError } from "./prepared-job.ts";
export {
  createProducer,
  type JobsProducer,
  type JobsProducerArguments,
  type Producer,
  type ProducerArguments,
} from "./producer.ts";
export type { ProducerEvent } from "./producer-event.ts";
export type { CloseReport, SendResult, UnsentJob } from "./send-result.ts";
