/** Middleware: a logger that knows which job it speaks of. */

import { type JobLambdaContext, type JobMiddleware, JobSurroundings } from "./job-surroundings.ts";

/** A logger that makes children, as pino does. */
export interface ParentLogger {
  child(bindings: Readonly<Record<string, string | number>>): unknown;
}

/** What the middleware adds to the context. */
export type LoggedContext<Logger extends ParentLogger> = JobLambdaContext & {
  log: ReturnType<Logger["child"]>;
};

/**
 * Puts a child of the logger at `context.log`: each of its lines has `tenant_id`, `job_id`, `job_type`,
 * `attempt`, `queue`, `message_id` and `receive_count`. Payloads are for nobody's log.
 */
export function jobLogger<Logger extends ParentLogger>(
  logger: Logger,
): JobMiddleware<unknown, LoggedContext<Logger>> {
  return {
    before: ({ context }) => {
      JobSurroundings.of(context, "jobLogger");
      const { job } = context;
      const bindings = {
        tenant_id: job.tenantId,
        job_id: job.jobId,
        job_type: job.jobType,
        attempt: job.attempt,
        queue: job.message.queue,
        message_id: job.message.messageId,
        receive_count: job.receiveCount,
      };
      context.log = logger.child(bindings) as ReturnType<Logger["child"]>;
    },
  };
}
