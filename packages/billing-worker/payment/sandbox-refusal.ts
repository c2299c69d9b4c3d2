/** Refusals in Stripe's words: status, type, code and message of each error body. */

import type { SandboxAnswer } from "./sandbox-change.ts";

const DOCUMENTATION = "https://stripe.com/docs/error-codes/";

/** What Stripe's error object holds besides its message. */
export interface RefusalFields {
  readonly code?: string;
  readonly param?: string;
}

/**
 * Thrown by whatever reads a request: nothing was executed, so nothing is stored under its key.
 * It never leaves the sandbox but as an answer.
 */
export class SandboxRefusal {
  readonly answer: SandboxAnswer;

  constructor(
    status: number,
    message: string,
    fields: RefusalFields = {},
    type: "invalid_request_error" | "idempotency_error" | "api_error" = "invalid_request_error",
  ) {
    this.answer = { status, body: { error: { ...fields, ...docUrl(fields.code), message, type } } };
  }
}

/** @see Stripe, "Error codes": the address is the code with dashes */
export function docUrl(code: string | undefined): { readonly doc_url?: string } {
  return code === undefined ? {} : { doc_url: DOCUMENTATION + code.replaceAll("_", "-") };
}

/** A parameter that must be there. */
export function missing(param: string): SandboxRefusal {
  const message = `Missing required param: ${param}.`;
  return new SandboxRefusal(400, message, { code: "parameter_missing", param });
}

/** A thing that does not exist. */
export function noSuch(thing: string, id: string, param: string, status = 404): SandboxRefusal {
  return new SandboxRefusal(status, `No such ${thing}: '${id}'`, {
    code: "resource_missing",
    param,
  });
}

/** A move that the intent's state does not allow. */
export function unexpectedState(message: string): SandboxRefusal {
  return new SandboxRefusal(400, message, { code: "payment_intent_unexpected_state" });
}

/** @see Stripe, "Rate limits": limiters run before the idempotency layer */
export function rateLimited(): SandboxRefusal {
  return new SandboxRefusal(
    429,
    "Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.",
    { code: "rate_limit" },
  );
}

/** @see Stripe, "Idempotent requests" */
export function otherParameters(key: string): SandboxRefusal {
  return new SandboxRefusal(
    400,
    "Keys for idempotent requests can only be used with the same parameters they were first used " +
      `with. Try using a key other than '${key}' if you meant to execute a different request.`,
    {},
    "idempotency_error",
  );
}

/** @see Stripe, "Error codes", `idempotency_key_in_use` */
export function keyInUse(key: string): SandboxRefusal {
  return new SandboxRefusal(
    409,
    "There is currently another in-progress request using this Idempotent Key (that probably means " +
      `you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
    { code: "idempotency_key_in_use" },
  );
}

/** An error of Stripe's own; whether something was applied, it does not say. */
export function serverError(): SandboxRefusal {
  return new SandboxRefusal(
    500,
    "An unknown error occurred. Please try again later.",
    {},
    "api_error",
  );
}
