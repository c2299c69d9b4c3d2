/** Middleware: a logger that knows which job it speaks of. */

import { type JobLambdaContext, type JobMiddleware, JobSurroundings } from "./job-surroundings.ts";

/** A logger that makes children, as pino does. */
export interface ParentLogger<Child> {
  child(bindings: Readonly<Record<string, string | number>>): Child;
}

/**
 * Puts a child of the logger at `context.log`: each of its lines has `tenant_id`, `job_id`, `job_type`,
 * `attempt`, `queue`, `message_id` and `receive_count`. Payloads are for nobody's log.
 */
export function jobLogger<Child>(
  logger: ParentLogger<Child>,
): JobMiddleware<unknown, JobLambdaContext & { log: Child }> {
  return {
    before: ({ context }) => {
      JobSurroundings.of(context, "jobLogger");
      const { job } = context;
      context.log = logger.child({
        tenant_id: job.tenantId,
        job_id: job.jobId,
        job_type: job.jobType,
        attempt: job.attempt,
        queue: job.message.queue,
        message_id: job.message.messageId,
        receive_count: job.receiveCount,
      });
    },
  };
}
