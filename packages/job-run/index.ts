/** One run of one job, from its lease to its settlement: see `job-run.ts`. */

export { SenderMissingError } from "./errors.ts";
export type { JobEvent, JobOutcome } from "./job-event.ts";
export { JobRun, type RunPhase } from "./job-run.ts";
export type { JobRegistry } from "./read-job.ts";
export { type BackoffPolicy, retryDelayMs } from "./retry-delay.ts";
export type { GiveBack, RunEnd, RunParts, RunPolicy } from "./run-parts.ts";
export { describeThrown, type ErrorInfo } from "./thrown.ts";
