/** Sends jobs: see `producer.ts`; what may be sent: `prepared-job.ts`. */

export { JobTooLargeError, SendFailedError, UnsendableJobError } from "./errors.ts";
export type { ProducerOptions } from "./options.ts";
export type { JobKind, JobToSend, TypedJobToSend, UnpreparedError } from "./prepared-job.ts";
export {
  createProducer,
  type Producer,
  type ProducerArguments,
  type SendResult,
} from "./producer.ts";
