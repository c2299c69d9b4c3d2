/** The part of Stripe's API that the local payment provider speaks: which address does what. */

import type { SandboxBook } from "./sandbox-book.ts";
import type { SandboxAnswer, SandboxIntent } from "./sandbox-change.ts";
import {
  CONFIRM_PARAMETERS,
  CREATE_PARAMETERS,
  intentBody,
  type Moment,
  type Move,
  type Outcome,
  prepareCancel,
  prepareCapture,
  prepareConfirm,
  prepareCreate,
} from "./sandbox-intents.ts";
import { type FormPairs, readSearchQuery, SandboxParameters } from "./sandbox-parameters.ts";
import { missing, noSuch, SandboxRefusal } from "./sandbox-refusal.ts";

const INTENTS = "/v1/payment_intents";
const MOVE = /^\/v1\/payment_intents\/(?<id>[^/]+)\/(?<move>confirm|capture|cancel)$/;
const ONE = /^\/v1\/payment_intents\/(?<id>[^/]+)$/;
const DEFAULT_LIMIT = 10;
const MOST_LIMIT = 100;

/** What is asked, without headers. */
export interface SandboxQuestion {
  readonly path: string;
  readonly pairs: FormPairs;
}

/** The invoice that a changing request is about, as far as it can be told; otherwise empty. */
export function invoiceOf({ path, pairs }: SandboxQuestion, book: SandboxBook): string {
  const id = MOVE.exec(path)?.groups?.["id"];
  if (id !== undefined) return book.intent(id)?.metadata["invoice_id"] ?? "";
  return pairs.find(([name]) => name === "metadata[invoice_id]")?.[1] ?? "";
}

/** Executes a request that was found valid. */
export type Execute = (moment: Moment) => Outcome;

/**
 * Reads a POST request without executing it.
 * @throws SandboxRefusal when it cannot be executed
 */
export function prepare({ path, pairs }: SandboxQuestion, book: SandboxBook): Execute {
  const { id, move } = MOVE.exec(path)?.groups ?? {};
  if (id === undefined && path !== INTENTS) throw unknownAddress("POST", path);
  const parameters = new SandboxParameters(pairs, KNOWN_PARAMETERS[move ?? "create"] ?? []);
  const prepared =
    id === undefined
      ? prepareCreate(parameters)
      : prepareMove(move ?? "", existing(book, id), parameters);
  const isExpanded = parameters.expands("payment_method");
  return (moment) => prepared({ ...moment, isExpanded });
}

const KNOWN_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  create: CREATE_PARAMETERS,
  confirm: CONFIRM_PARAMETERS,
  capture: ["amount_to_capture", "expand"],
  cancel: ["cancellation_reason", "expand"],
};

function prepareMove(move: string, intent: SandboxIntent, parameters: SandboxParameters): Move {
  if (move === "confirm") return prepareConfirm(intent, parameters);
  return move === "capture"
    ? prepareCapture(intent, parameters)
    : prepareCancel(intent, parameters);
}

/**
 * Answers a GET request. A list and a single intent are as of now; a search is as of `searchAsOfMs`.
 * @throws SandboxRefusal when there is no such thing
 */
export function answerQuestion(
  { path, pairs }: SandboxQuestion,
  book: SandboxBook,
  searchAsOfMs: number,
): SandboxAnswer {
  if (path === INTENTS) return list(pairs, book);
  if (path === `${INTENTS}/search`) return search(pairs, book, searchAsOfMs);
  const id = ONE.exec(path)?.groups?.["id"];
  if (id === undefined) throw unknownAddress("GET", path);
  const isExpanded = new SandboxParameters(pairs, ["expand"]).expands("payment_method");
  return { status: 200, body: intentBody(existing(book, id), isExpanded) };
}

/** @see Stripe API Reference, "List all PaymentIntents": newest first */
function list(pairs: FormPairs, book: SandboxBook): SandboxAnswer {
  const known = ["created", "customer", "limit", "starting_after", "expand"];
  const parameters = new SandboxParameters(pairs, known);
  const customer = parameters.text("customer");
  const fromMs = Number(parameters.text("created[gte]") ?? 0) * 1000;
  // `created` is in whole seconds, so an intent is found from the beginning of its second.
  const found = book.intents(
    (intent) =>
      (customer === undefined || intent.customer === customer) &&
      Math.floor(intent.createdAtMs / 1000) * 1000 >= fromMs,
  );
  const after = parameters.text("starting_after");
  const start = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0)
    throw noSuch("payment_intent", after, "starting_after", 400);
  return page("list", INTENTS, found.slice(start), parameters);
}

/** @see Stripe API Reference, "Search PaymentIntents": not for reading what was just written */
function search(pairs: FormPairs, book: SandboxBook, asOfMs: number): SandboxAnswer {
  const parameters = new SandboxParameters(pairs, ["query", "limit", "expand"]);
  const query = parameters.text("query");
  if (query === undefined) throw missing("query");
  const clauses = readSearchQuery(query);
  const found = book.intentsAsOf(asOfMs, (intent) =>
    clauses.every(({ field, value }) => fieldOf(intent, field) === value),
  );
  return page("search_result", `${INTENTS}/search`, found, parameters);
}

function fieldOf(intent: SandboxIntent, field: string): string | undefined {
  if (field.startsWith("metadata.")) return intent.metadata[field.slice("metadata.".length)];
  return { status: intent.status, currency: intent.currency, customer: intent.customer }[field];
}

function page(
  object: "list" | "search_result",
  url: string,
  found: readonly SandboxIntent[],
  parameters: SandboxParameters,
): SandboxAnswer {
  const limit = limitOf(parameters);
  const isExpanded = parameters.expands("data.payment_method");
  const data = found.slice(0, limit).map((intent) => intentBody(intent, isExpanded));
  const nextPage = object === "search_result" ? { next_page: null } : {};
  return { status: 200, body: { object, url, has_more: found.length > limit, ...nextPage, data } };
}

function limitOf(parameters: SandboxParameters): number {
  const limit = Number(parameters.text("limit") ?? DEFAULT_LIMIT);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_LIMIT) return limit;
  throw new SandboxRefusal(400, `limit must be between 1 and ${MOST_LIMIT}`, { param: "limit" });
}

function existing(book: SandboxBook, id: string): SandboxIntent {
  const intent = book.intent(id);
  if (intent === undefined) throw noSuch("payment_intent", id, "intent");
  return intent;
}

function unknownAddress(method: string, path: string): SandboxRefusal {
  return new SandboxRefusal(404, `Unrecognized request URL (${method}: ${path}).`);
}
