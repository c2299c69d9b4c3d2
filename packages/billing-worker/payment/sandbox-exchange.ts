/** One HTTP exchange with the local payment provider: read whole, answered once, or left alone. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { SandboxAnswer } from "./sandbox-change.ts";
import { newId } from "./sandbox-intents.ts";
import type { FormPairs } from "./sandbox-parameters.ts";
import { SandboxRefusal } from "./sandbox-refusal.ts";

/** @see Stripe API Reference, "Idempotent requests" */
const LONGEST_KEY = 255;

/** What a client gets: an answer, nothing while the connection stays open, or a reset. */
export type Delivery =
  | {
      readonly kind: "answer";
      readonly answer: SandboxAnswer;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: "silence" }
  | { readonly kind: "reset" };

/** A request that was read, and the way to answer it. */
export class SandboxExchange {
  readonly requestId: string = newId("req");
  readonly method: string;
  readonly path: string;
  readonly query: FormPairs;
  readonly body: string;
  /** Empty when there is none. */
  readonly idempotencyKey: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  private constructor(request: IncomingMessage, response: ServerResponse, body: string) {
    const url = new URL(request.url ?? "/", "http://sandbox");
    this.method = request.method ?? "GET";
    this.path = url.pathname;
    this.query = [...url.searchParams];
    this.body = body;
    this.idempotencyKey = String(request.headers["idempotency-key"] ?? "");
    this.#request = request;
    this.#response = response;
  }

  static async read(request: IncomingMessage, response: ServerResponse): Promise<SandboxExchange> {
    return new SandboxExchange(request, response, (await buffer(request)).toString());
  }

  get form(): FormPairs {
    return [...new URLSearchParams(this.body)];
  }

  /** @throws SandboxRefusal unless it carries a key of Stripe's test mode, and no overlong other one */
  authenticate(): void {
    const given = /^Bearer (.*)$/.exec(this.#request.headers.authorization ?? "")?.[1];
    if (given === undefined) {
      const problem = "You did not provide an API key, in the Authorization header.";
      throw new SandboxRefusal(401, problem);
    }
    if (!/^[sr]k_test_./.test(given)) {
      const problem =
        `Invalid API Key provided: ${given.slice(0, 8)}***. This is the local payment provider: ` +
        "it takes keys that start with sk_test_, and a live key should never be sent to it.";
      throw new SandboxRefusal(401, problem);
    }
    if (this.idempotencyKey.length > LONGEST_KEY) {
      throw new SandboxRefusal(400, `Idempotency keys have at most ${LONGEST_KEY} characters`);
    }
  }

  deliver(delivery: Delivery): void {
    if (delivery.kind === "answer") this.#answer(delivery.answer, delivery.headers);
    if (delivery.kind === "reset") this.#request.socket.resetAndDestroy();
  }

  #answer({ status, body }: SandboxAnswer, headers: Readonly<Record<string, string>>): void {
    const text = JSON.stringify(body);
    this.#response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      "request-id": this.requestId,
      ...(this.idempotencyKey === "" ? {} : { "idempotency-key": this.idempotencyKey }),
      ...headers,
    });
    this.#response.end(text);
  }
}
