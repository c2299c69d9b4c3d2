/** Handlers that end in every way but the one that was meant, and where their message must go. */

import { PermanentJobError, RetryLaterError } from "@leasehold/job";
import { MARKER } from "./envelopes.ts";
import type { Handler } from "./trial.ts";

/** A handler, and what becomes of its message. */
export interface StrangeHandler {
  readonly name: string;
  readonly handler: Handler;
  readonly expected:
    | "acked"
    /** Tried again after its backoff, and dead-lettered when the attempts are used up. */
    | "retried"
    /** Dead-lettered at once. */
    | "permanent"
    /** Hidden for long, no failure. */
    | "put off";
}

const throws = (
  name: string,
  thrown: () => unknown,
  expected: StrangeHandler["expected"] = "retried",
): StrangeHandler => ({
  name,
  handler: () => {
    throw thrown();
  },
  expected,
});

const returns = (
  name: string,
  returned: () => unknown,
  expected: StrangeHandler["expected"],
): StrangeHandler => ({ name, handler: returned, expected });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function circular(): Error {
  const error = new Error("circular");
  error.cause = error;
  return error;
}

/** An object each of whose fields throws when it is read, save those given. */
function thorny(fields: Readonly<Record<string, unknown>> = {}): object {
  return new Proxy(fields, {
    get: (target, name) => {
      if (typeof name === "string" && Object.hasOwn(target, name)) return target[name];
      throw new Error(`do not read ${String(name)}`);
    },
    getPrototypeOf: () => {
      throw new Error("do not ask who I am");
    },
  });
}

const PERMANENT = "PERMANENT_JOB_FAILURE";

/** Every strange ending. */
export const strangeHandlers: readonly StrangeHandler[] = [
  throws("throws undefined", () => undefined),
  throws("throws null", () => null),
  throws("throws a text", () => "out of paper"),
  throws("throws an empty text", () => ""),
  throws("throws a number that is none", () => Number.NaN),
  throws("throws a symbol", () => Symbol("out of paper")),
  throws("throws a bigint", () => 7n),
  throws("throws a function", () => () => undefined),
  throws("throws a promise that rejects", () => {
    const promise = Promise.reject(new Error("nobody listens"));
    promise.catch(() => undefined);
    return promise;
  }),
  throws("throws an object without a prototype", () => Object.create(null)),
  throws("throws an object that holds the payload", () => ({ payload: { note: MARKER } })),
  throws("throws a frozen error", () => Object.freeze(new Error("frozen"))),
  throws("throws an error that is its own cause", circular),
  throws("throws an error of many errors", () => new AggregateError([circular(), 7], "many")),
  throws("throws an error with ten million characters", () => new Error("x".repeat(10_000_000))),
  throws("throws an error with half a surrogate pair and NUL", () => new Error("\ud800\u0000")),
  throws("throws an error whose message is an object", () =>
    Object.assign(new Error("x"), { message: { note: MARKER } }),
  ),
  throws("throws an error whose name is no text", () =>
    Object.assign(new Error("x"), { name: 7, code: {}, stack: null }),
  ),
  throws("throws an object that cannot be read", thorny),
  throws("throws a revoked proxy", revoked),
  throws("throws a retry that cannot be read", () => thorny({ code: "RETRY_LATER" })),
  throws("throws a retry at no time", () => new RetryLaterError(Number.NaN)),
  throws("throws a retry in the past", () => new RetryLaterError(-60_000)),
  throws("throws a retry whose delay is a text", () => ({ code: "RETRY_LATER", delayMs: "60000" })),
  throws("throws a retry in all eternity", () => new RetryLaterError(Infinity), "put off"),
  throws("throws a retry in a million years", () => new RetryLaterError(3e16), "put off"),
  throws("throws a permanent error", () => new PermanentJobError("no such invoice"), "permanent"),
  throws("throws a permanent error without a word", () => new PermanentJobError(""), "permanent"),
  throws(
    "throws a permanent error with ten million characters",
    () => new PermanentJobError("x".repeat(10_000_000)),
    "permanent",
  ),
  throws(
    "throws a permanent error with what SQS refuses",
    () => new PermanentJobError("\u0000\ud800\ufffe"),
    "permanent",
  ),
  throws("throws a permanent error of another copy", () => ({ code: PERMANENT }), "permanent"),
  throws(
    "throws a permanent error that cannot be read",
    () => thorny({ code: PERMANENT }),
    "permanent",
  ),
  returns("rejects with undefined", () => Promise.reject(undefined), "retried"),
  returns("returns a revoked proxy", revoked, "retried"),
  returns("returns an object that cannot be read", thorny, "retried"),
  returns(
    "returns what calls itself a promise and throws",
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: the thenable is the strange thing
      then: () => {
        throw "then";
      },
    }),
    "retried",
  ),
  returns("returns an error", () => new Error("returned, not thrown"), "acked"),
  returns("returns false", () => false, "acked"),
  returns("returns half the job", () => ({ note: MARKER }), "acked"),
  returns("returns a circle", circular, "acked"),
  {
    name: "logs what no log can carry",
    handler: (_, { log }) => {
      const circle: Record<string, unknown> = { big: 7n, when: new Date(Number.NaN) };
      circle["circle"] = circle;
      log.info("\ud800 %s %o", circle as never);
      log.error(undefined as never, thorny() as never);
    },
    expected: "acked",
  },
  {
    name: "changes all that it was given",
    handler: (receipt, context) => {
      for (const given of [receipt, context, context.log, context.lease] as object[]) {
        for (const name of Object.keys(given)) Reflect.set(given, name, undefined);
        Reflect.setPrototypeOf(given, null);
      }
    },
    expected: "acked",
  },
];
