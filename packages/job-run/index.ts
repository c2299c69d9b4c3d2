/** One run of one job, from its lease to its settlement: see `job-run.ts`. */

export { SenderMissingError } from "./errors.ts";
export type { JobEvent, JobOutcome } from "./job-event.ts";
export {
  type GiveBack,
  JobRun,
  type RunEnd,
  type RunParts,
  type RunPhase,
  type RunPolicy,
} from "./job-run.ts";
export type { JobRegistry } from "./read-job.ts";
export { type BackoffPolicy, retryDelayMs } from "./retry-delay.ts";
export { describeThrown, type ErrorInfo } from "./thrown.ts";
