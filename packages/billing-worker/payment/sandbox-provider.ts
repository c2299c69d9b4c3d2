/** The local payment provider behind its HTTP server: decides what each request does and gets. */

import { createHash } from "node:crypto";
import type { CancelTimer, Clock } from "@leasehold/clock";
import { changesOf, type SandboxBook } from "./sandbox-book.ts";
import type { LateRequest, SandboxAnswer } from "./sandbox-change.ts";
import type { Delivery, SandboxExchange } from "./sandbox-exchange.ts";
import type { FaultPlan, SandboxFault } from "./sandbox-faults.ts";
import type { Moment, Outcome } from "./sandbox-intents.ts";
import { rateLimited, SandboxRefusal, serverError } from "./sandbox-refusal.ts";
import {
  answerQuestion,
  type Execute,
  invoiceOf,
  prepare,
  type SandboxQuestion,
} from "./sandbox-routes.ts";

/** A request as it arrived, for whoever wants to know; told before it is answered. */
export interface HeardRequest {
  readonly method: string;
  readonly path: string;
  /** Its idempotency key; empty when it has none. */
  readonly key: string;
  /** Empty when it cannot be told. */
  readonly invoiceId: string;
  readonly fault?: SandboxFault;
}

/** What a provider is made of. */
export interface ProviderParts {
  readonly book: SandboxBook;
  readonly clock: Clock;
  readonly plan: FaultPlan;
  readonly searchLagMs: number;
  readonly hear: (request: HeardRequest) => void;
}

/** A POST request that was given a fault, or none. */
interface Change {
  readonly question: SandboxQuestion;
  readonly requestId: string;
  readonly key: string;
  readonly fault: SandboxFault | undefined;
}

/** Answers Stripe's addresses. Whatever it answers is in the book's file by then. */
export class SandboxProvider {
  readonly #parts: ProviderParts;
  readonly #landings = new Map<string, CancelTimer>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    for (const request of parts.book.lateRequests) this.#schedule(request);
  }

  /** What the client gets. */
  serve(exchange: SandboxExchange): Delivery {
    try {
      exchange.authenticate();
      if (exchange.method === "POST") return this.#changeBy(exchange);
      const { method, path, query: pairs } = exchange;
      this.#parts.hear({ method, path, key: "", invoiceId: "" });
      const searchAsOfMs = this.#parts.clock.wallMs() - this.#parts.searchLagMs;
      return answered(answerQuestion({ path, pairs }, this.#parts.book, searchAsOfMs));
    } catch (error) {
      if (!(error instanceof SandboxRefusal)) throw error;
      return answered(error.answer);
    }
  }

  /** Ends its timers; late requests land after the next start. */
  close(): void {
    for (const cancel of this.#landings.values()) cancel();
  }

  #changeBy({ method, path, form: pairs, requestId, idempotencyKey }: SandboxExchange): Delivery {
    const question = { path, pairs };
    const invoiceId = invoiceOf(question, this.#parts.book);
    const fault = this.#parts.plan.next(invoiceId);
    const heard = { method, path, key: idempotencyKey, invoiceId };
    this.#parts.hear(fault === undefined ? heard : { ...heard, fault });
    return this.#change({ question, requestId, key: idempotencyKey, fault });
  }

  /** Stripe's order: rate limits, then the key, then the parameters, then the endpoint itself. */
  #change(change: Change): Delivery {
    const { question, requestId, key, fault } = change;
    if (fault?.kind === "rate-limit") {
      return answered(rateLimited().answer, { "retry-after": String(fault.retryAfterSeconds) });
    }
    const { book, clock } = this.#parts;
    const atMs = clock.wallMs();
    const fingerprint = fingerprintOf(question);
    const stored = book.answerTo(key, fingerprint, atMs);
    if (stored !== undefined) {
      const replay = { "idempotent-replayed": "true", "original-request": stored.requestId };
      return spoilt(fault, answered(stored, { ...replay, ...shouldRetry(stored) }));
    }
    if (fault !== undefined && "when" in fault && fault.when === "before") {
      return spoilt(fault, answered(serverError().answer));
    }
    const execute = prepare(question, book);
    if (fault?.kind === "late-landing") {
      const { path, pairs: parameters } = question;
      const landsAtMs = atMs + fault.delayMs;
      return this.#takeLate({ requestId, key, fingerprint, atMs, path, parameters, landsAtMs });
    }
    const outcome = executed(execute, { key, nowMs: atMs }, fault);
    book.commit(changesOf(outcome, { requestId, key, fingerprint, atMs }));
    return spoilt(fault, answered(outcome.answer, shouldRetry(outcome.answer)));
  }

  #takeLate(request: LateRequest): Delivery {
    this.#parts.book.commit([{ kind: "late", request }]);
    this.#schedule(request);
    return { kind: "silence" };
  }

  #schedule(request: LateRequest): void {
    const leftMs = request.landsAtMs - this.#parts.clock.wallMs();
    const cancel = this.#parts.clock.schedule(leftMs, () => this.#land(request));
    this.#landings.set(request.requestId, cancel);
  }

  #land(request: LateRequest): void {
    const { book, clock } = this.#parts;
    const { requestId, key } = request;
    this.#landings.delete(requestId);
    const atMs = clock.wallMs();
    const outcome = landed(request, book, { key, nowMs: atMs });
    const changes = changesOf(outcome, { ...request, atMs });
    book.commit([...changes, { kind: "landed", requestId }]);
  }
}

/** Executes, unless the endpoint is to break before its effect; or breaks after it. */
function executed(execute: Execute, moment: Moment, fault: SandboxFault | undefined): Outcome {
  if (fault?.kind !== "server-error") return execute(moment);
  const { answer } = serverError();
  return { answer, changes: fault.when === "stored" ? [] : execute(moment).changes };
}

/** Read anew, since the process may have been started anew; the intent may have moved on. */
function landed({ path, parameters }: LateRequest, book: SandboxBook, moment: Moment): Outcome {
  try {
    return prepare({ path, pairs: parameters }, book)(moment);
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    return { answer: error.answer, changes: [] };
  }
}

/** What the fault leaves of an answer. */
function spoilt(fault: SandboxFault | undefined, answer: Delivery): Delivery {
  if (fault?.kind === "reset") return { kind: "reset" };
  if (fault?.kind === "no-answer" || fault?.kind === "late-landing") return { kind: "silence" };
  return answer;
}

function answered(answer: SandboxAnswer, headers: Readonly<Record<string, string>> = {}): Delivery {
  return { kind: "answer", answer, headers };
}

/** Of address and parameters; their order does not matter. */
function fingerprintOf({ path, pairs }: SandboxQuestion): string {
  const sorted = pairs.map((pair) => JSON.stringify(pair)).sort();
  return createHash("sha256")
    .update(JSON.stringify([path, sorted]))
    .digest("hex");
}

/** A stored 500 stays one, and Stripe tells its SDKs so. */
function shouldRetry({ status }: SandboxAnswer): Readonly<Record<string, string>> {
  return status >= 500 ? { "stripe-should-retry": "false" } : {};
}
