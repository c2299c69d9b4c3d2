/** A middy-wrapped function as the handler of a job, in a worker as in Lambda. */

import type { AnyJobDefinition, Job, JobContext, JobHandler } from "@leasehold/job";
import { eventOf } from "./job-record.ts";
import { type JobLambdaContext, JobSurroundings } from "./job-surroundings.ts";
import type { LambdaContext, SqsRecord } from "./lambda.ts";

/**
 * A function in Lambda's style, middy-wrapped or not: it is called with an SQS event of one message, a
 * context, and a signal.
 */
// biome-ignore lint/suspicious/noExplicitAny: middlewares decide what event and context become
export type LambdaStyleHandler = (event: any, context: any, options?: any) => unknown;

/** The invocation in which a job runs, when it runs in Lambda. */
export interface InvocationFacts {
  readonly context: Partial<LambdaContext>;
  readonly records: ReadonlyMap<string, SqsRecord>;
}

const wrappedBy = new WeakMap<object, LambdaStyleHandler>();

/**
 * The handler of a job whose work is a middy-wrapped function.
 *
 * It is given what Lambda would give it: an SQS event with this one message, and a context whose
 * `getRemainingTimeInMillis` counts to the nearest deadline of this job. `context.job` is what a plain
 * handler gets, its signal included. What the function returns or throws ends the job as it would for
 * a plain handler.
 *
 * When middy's own early timeout ends the call, the function behind it still runs; the job then ends
 * with its signal, and not before.
 *
 * @example
 * const greet = defineJob({
 *   type: "mail.greet",
 *   schema: greeting,
 *   handler: middyHandler(
 *     middy().use(jobEnvelope(greeting)).handler(async (job) => console.log(job.payload.name)),
 *   ),
 * });
 */
export function middyHandler(wrapped: LambdaStyleHandler): JobHandler<unknown> {
  if (typeof wrapped !== "function") {
    throw new TypeError(
      `a middy handler must be a function, got ${typeof wrapped}: give it what middy(...) returned`,
    );
  }
  const handler: JobHandler<unknown> = (job, context) => callWrapped(wrapped, job, context);
  wrappedBy.set(handler, wrapped);
  return handler;
}

/** The same job within one invocation: a middy-wrapped handler is told of it, a plain one is not. */
export function inInvocation(
  definition: AnyJobDefinition,
  facts: InvocationFacts,
): AnyJobDefinition {
  const wrapped = wrappedBy.get(definition.handler);
  if (wrapped === undefined) return definition;
  const handler: JobHandler<unknown> = (job, context) => callWrapped(wrapped, job, context, facts);
  return { ...definition, handler };
}

async function callWrapped(
  wrapped: LambdaStyleHandler,
  job: Job,
  context: JobContext,
  facts?: InvocationFacts,
): Promise<unknown> {
  const event = eventOf(context, facts?.records.get(context.message.messageId));
  const given = contextOf(context, facts);
  const surroundings = JobSurroundings.open(given, job);
  // As a getter: a handler that never looks at its signal is not taken for one that obeyed it.
  const options = {
    get signal() {
      return context.signal;
    },
  };
  let result: unknown;
  try {
    result = await wrapped(event, given, options);
  } catch (thrown) {
    if (isEarlyTimeout(thrown)) await aborted(context.signal);
    await surroundings.close({ kind: "threw", thrown });
    throw thrown;
  }
  await surroundings.close({ kind: "returned", result });
  return result;
}

function contextOf(job: JobContext, facts: InvocationFacts | undefined): JobLambdaContext {
  return {
    ...{ functionName: job.jobType, functionVersion: "", invokedFunctionArn: "" },
    ...{ memoryLimitInMB: "", logGroupName: "", logStreamName: "" },
    awsRequestId: `${job.message.messageId}#${job.receiveCount}`,
    callbackWaitsForEmptyEventLoop: true,
    ...facts?.context,
    getRemainingTimeInMillis: () => job.remainingMs(),
    job,
  };
}

/** Middy gives up some milliseconds before the deadline and leaves its handler to run on. */
function isEarlyTimeout(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || thrown.name !== "TimeoutError") return false;
  const { package: source }: { package?: unknown } = Object(thrown.cause);
  return source === "@middy/core";
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
