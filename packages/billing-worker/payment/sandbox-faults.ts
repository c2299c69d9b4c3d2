/** What goes wrong at the local payment provider, and at which requests. */

import { PaymentSandboxError } from "../errors.ts";

/**
 * One fault. "Before" is before anything was executed: nothing is applied or stored. "After" is
 * after it was: the charge is real, and the answer is under its key.
 *
 * - `no-answer`: the connection stays open and silent.
 * - `late-landing`: silent, too; the effect comes `delayMs` later, whether or not the client waits.
 * - `reset`: the connection is cut.
 * - `server-error`: HTTP 500. `stored` says that the endpoint had begun: then every repetition with
 *   this key gets the same 500, as Stripe does; after an effect that is always so.
 * - `rate-limit`: HTTP 429 before everything else, with `Retry-After`.
 */
export type SandboxFault =
  | { readonly kind: "no-answer"; readonly when: "before" | "after" }
  | { readonly kind: "late-landing"; readonly delayMs: number }
  | { readonly kind: "reset"; readonly when: "before" | "after" }
  | { readonly kind: "server-error"; readonly when: "before" | "stored" | "after" }
  | { readonly kind: "rate-limit"; readonly retryAfterSeconds: number };

/** Which requests have the fault. Only those count that could change something: POST requests. */
export interface FaultRule {
  readonly fault: SandboxFault;
  /** Only requests about this invoice (`metadata.invoice_id`). @defaultValue every request */
  readonly invoiceId?: string;
  /** Which of an invoice's requests, 1 for its first. @defaultValue all of them */
  readonly request?: number;
}

/** Hands out faults, and counts how often each invoice was asked for. */
export class FaultPlan {
  #rules: readonly FaultRule[] = [];
  readonly #requests = new Map<string, number>();

  /** @throws PaymentSandboxError naming the rule that cannot be one */
  constructor(rules: readonly FaultRule[]) {
    this.replace(rules);
  }

  /** Other rules from now on; what was counted stays. */
  replace(rules: readonly FaultRule[]): void {
    for (const rule of rules) checkRule(rule);
    this.#rules = rules;
  }

  /** The fault of the next request about this invoice; `undefined` when all goes well. */
  next(invoiceId: string): SandboxFault | undefined {
    const request = (this.#requests.get(invoiceId) ?? 0) + 1;
    this.#requests.set(invoiceId, request);
    return this.#rules.find(
      (rule) =>
        (rule.invoiceId === undefined || rule.invoiceId === invoiceId) &&
        (rule.request === undefined || rule.request === request),
    )?.fault;
  }
}

const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  "no-answer": ["before", "after"],
  reset: ["before", "after"],
  "server-error": ["before", "stored", "after"],
};

function checkRule(rule: FaultRule): void {
  if (rule === null || typeof rule !== "object" || Array.isArray(rule)) throw badRule(rule, "");
  const { fault, request } = rule;
  const moments = MOMENTS[fault?.kind];
  if (moments !== undefined) {
    if (!moments.includes((fault as { readonly when: string }).when)) {
      throw badRule(rule, `: when must be one of ${moments.join(", ")}`);
    }
  } else if (fault?.kind === "late-landing") {
    if (!(fault.delayMs >= 0)) throw badRule(rule, ": delayMs must be 0 or more");
  } else if (fault?.kind === "rate-limit") {
    if (!(fault.retryAfterSeconds >= 0))
      throw badRule(rule, ": retryAfterSeconds must be 0 or more");
  } else {
    const kinds = [...Object.keys(MOMENTS), "late-landing", "rate-limit"];
    throw badRule(rule, `: fault.kind must be one of ${kinds.join(", ")}`);
  }
  if (request !== undefined && !(Number.isInteger(request) && request >= 1)) {
    throw badRule(rule, ": request must be a whole number from 1");
  }
}

function badRule(rule: unknown, problem: string): PaymentSandboxError {
  return new PaymentSandboxError(`${JSON.stringify(rule)} is not a fault rule${problem}`);
}
