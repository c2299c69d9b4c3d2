/** What middlewares know of the job that they are called for, and what they do when it has ended. */

import type { Job, JobContext } from "@leasehold/job";
import { MiddlewareUseError } from "./errors.ts";
import type { LambdaContext } from "./lambda.ts";

/** The context of a middy-wrapped handler. */
export interface JobLambdaContext extends LambdaContext {
  /** What a plain handler gets: `once`, `checkpoint`, `send`, `signal`, ... */
  readonly job: JobContext;
}

/** What middy hands to a middleware. */
export interface MiddyRequest<Event = unknown, Context = JobLambdaContext> {
  event: Event;
  context: Context;
  response: unknown;
  earlyResponse?: unknown;
  error: unknown;
  internal: object;
}

/** A middleware for the handlers of jobs. Its event and context are what it makes of them. */
export interface JobMiddleware<Event = unknown, Context = JobLambdaContext> {
  // As middy itself has them: what a middleware returns ends the request early.
  before(request: MiddyRequest<Event, Context>): Promise<void> | void;
}

/** How a wrapped handler ended, all its middlewares included. */
export type WrappedEnd =
  | { readonly kind: "returned"; readonly result: unknown }
  | { readonly kind: "threw"; readonly thrown: unknown };

type Closer = (end: WrappedEnd) => Promise<void> | void;

const open = new WeakMap<object, JobSurroundings>();

/**
 * One call of a wrapped handler.
 *
 * Middy calls no `after` once a middleware has answered early, and every `onError` whoever failed. So
 * a middleware that has begun something ends it here, where each call ends exactly once.
 */
export class JobSurroundings {
  readonly job: Job;
  readonly #closers: Closer[] = [];

  constructor(job: Job) {
    this.job = job;
  }

  static open(context: JobLambdaContext, job: Job): JobSurroundings {
    const surroundings = new JobSurroundings(job);
    open.set(context, surroundings);
    return surroundings;
  }

  static find(context: object): JobSurroundings | undefined {
    return open.get(context);
  }

  /** @throws MiddlewareUseError when the handler was not called for a job */
  static of(context: object, middleware: string): JobSurroundings {
    const found = open.get(context);
    if (found !== undefined) return found;
    throw new MiddlewareUseError(
      `${middleware} works for the handler of a job only: make it one with middyHandler, and run it ` +
        "by a worker or by lambdaHandler",
    );
  }

  /** Has something done when the handler has ended, the last one first. */
  onClose(closer: Closer): void {
    this.#closers.unshift(closer);
  }

  /**
   * Every closer is called; those that come after one that threw see the call as one that threw.
   * @throws whatever the first of them threw: the job ends by that, if its handler had returned
   */
  async close(end: WrappedEnd): Promise<void> {
    let seen = end;
    for (const closer of this.#closers.splice(0)) {
      try {
        await closer(seen);
      } catch (thrown) {
        if (seen.kind === "returned") seen = { kind: "threw", thrown };
      }
    }
    if (seen !== end && seen.kind === "threw") throw seen.thrown;
  }
}
