/** Middleware: a whole handler is one effect of its job, which happens once. */

import type { Effect, EffectCall } from "@leasehold/job";
import {
  type JobLambdaContext,
  type JobMiddleware,
  JobSurroundings,
  type MiddyRequest,
  type WrappedEnd,
} from "./job-surroundings.ts";

/** What the handler returned, so that one that returned nothing is told from one that never ran. */
interface ResultEnvelope {
  readonly result?: unknown;
}

/** How a handler is guarded; the words of an effect. */
export interface HandlerGuard
  extends Pick<Effect<unknown>, "timeoutMs" | "last" | "tombstone" | "isOutage"> {
  /** No policy fits all handlers, so there is no default: `park()`, `rerun()`, `query(...)`, ... */
  readonly recover: Effect<unknown>["recover"];
  /** Unique within the job. @defaultValue "handler" */
  readonly name?: string;
}

/** What the guard adds to the context: `once.key` is the idempotency key for providers. */
export type OnceContext = JobLambdaContext & { once: EffectCall };

/**
 * Runs the handler once for each job, by the job ledger: a later delivery gets the stored result, and
 * one beside it is put off. Whoever did not start it writes nothing.
 *
 * Use it as the last middleware. Whatever the handler throws means that nobody knows what it did, but
 * for `NotSentError` and `RejectedError`; `recover` decides then.
 */
export function jobOnce(guard: HandlerGuard): JobMiddleware<unknown, OnceContext> {
  const { name = "handler", recover, ...rest } = guard;
  return {
    before: async (request) => {
      const surroundings = JobSurroundings.of(request.context, "jobOnce");
      const began = Promise.withResolvers<EffectCall>();
      const handled = Promise.withResolvers<ResultEnvelope>();
      const effect: Effect<ResultEnvelope> = {
        ...rest,
        recover: recover as Effect<ResultEnvelope>["recover"],
        run: (call) => {
          began.resolve(call);
          return handled.promise;
        },
      };
      const stored = request.context.job.once(name, surroundings.job.payload, effect);
      const first = await Promise.race([began.promise.then(asCall), stored.then(asStored)]);
      if ("stored" in first) return answerEarly(request, first.stored);
      request.context.once = first.call;
      surroundings.onClose((end) => settle(end, handled, stored));
    },
  };
}

function asCall(call: EffectCall): { readonly call: EffectCall } {
  return { call };
}

function asStored(stored: ResultEnvelope): { readonly stored: ResultEnvelope } {
  return { stored };
}

/** Returning it would not do: middy takes `undefined` for a middleware that has nothing to say. */
function answerEarly(request: MiddyRequest<unknown, OnceContext>, stored: ResultEnvelope): void {
  request.earlyResponse = stored.result;
}

async function settle(
  end: WrappedEnd,
  handled: PromiseWithResolvers<ResultEnvelope>,
  stored: Promise<unknown>,
): Promise<void> {
  if (end.kind === "returned") {
    handled.resolve({ result: end.result });
    await stored;
    return;
  }
  handled.reject(end.thrown);
  // The handler's own error is what the job ends by; how it was recorded, its ledger knows.
  await stored.catch(() => {});
}
