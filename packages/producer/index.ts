/** Sends jobs: see `producer.ts`. */

export { JobTooLargeError, SendFailedError, UnsendableJobError } from "./errors.ts";
export type { ProducerOptions } from "./options.ts";
export {
  createProducer,
  type JobKind,
  type JobToSend,
  type Producer,
  type ProducerArguments,
  type RefusalError,
  type SendResult,
  type TypedJobToSend,
} from "./producer.ts";
