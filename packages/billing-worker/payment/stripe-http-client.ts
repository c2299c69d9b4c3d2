/** The HTTP client under Stripe's SDK: each call is one wire attempt, bounded as a whole. */

import { type IncomingHttpHeaders, type RequestOptions, request as requestByHttp } from "node:http";
import { request as requestByHttps } from "node:https";
import { text } from "node:stream/consumers";

/** An answer that was read whole, in the form that the SDK asks for. */
export interface WholeAnswer {
  getStatusCode(): number;
  getHeaders(): Record<string, string>;
  getRawResponse(): { readonly headers: Record<string, string>; readonly statusCode: number };
  toStream(): never;
  toJSON(): Promise<unknown>;
}

/** A connection that failed; its cause says how. */
class WireError extends Error {}

/**
 * Made for one call of the provider, and asked afterwards what it saw.
 *
 * The SDK's own client would not do. It repeats a request whose connection was closed even with
 * `maxNetworkRetries: 0`, so that a refused second connection would hide that the first one had
 * carried the request; and its timeout begins with the connection and again with every byte, so that
 * no number of it bounds a call.
 *
 * Every request has a connection of its own: one that was kept open may have been closed by Stripe
 * meanwhile, and the reset that tells so looks like a charge whose answer was lost.
 *
 * @see stripe-node issues 1040, 1058 and 2808
 */
export class StripeHttpClient {
  readonly #signal: AbortSignal;
  #mayHaveSent = false;

  /** @param signal - ends the call, its requests included */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether there was a connection; as long as there was none, not one byte was written. */
  get mayHaveSent(): boolean {
    return this.#mayHaveSent;
  }

  getClientName(): string {
    return "leasehold";
  }

  /** @throws WireError without the code of its cause, since the SDK repeats requests by it */
  async makeRequest(
    host: string,
    port: string,
    path: string,
    method: string,
    headers: object,
    body: string,
    protocol: string,
  ): Promise<WholeAnswer> {
    const options = { host, port, path, method, headers: headers as IncomingHttpHeaders };
    try {
      return await this.#exchange(options, body, protocol);
    } catch (cause) {
      throw new WireError("the connection failed", { cause });
    }
  }

  #exchange(options: RequestOptions, body: string, protocol: string): Promise<WholeAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
    const send = protocol === "http" ? requestByHttp : requestByHttps;
    const request = send({ ...options, agent: false, signal: this.#signal });
    request.on("socket", (socket) => {
      // Node writes to a socket only once it is connected, and never before it says so.
      if (!socket.connecting) this.#mayHaveSent = true;
      socket.once("connect", () => {
        this.#mayHaveSent = true;
      });
    });
    request.on("error", reject);
    request.on("response", (response) => {
      text(response).then(
        (whole) => resolve(wholeAnswer(response.statusCode ?? 0, response.headers, whole)),
        reject,
      );
    });
    request.end(body);
    return promise;
  }
}

function wholeAnswer(status: number, found: IncomingHttpHeaders, body: string): WholeAnswer {
  const headers = Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, String(value)]),
  );
  return {
    getStatusCode: () => status,
    getHeaders: () => headers,
    getRawResponse: () => ({ headers, statusCode: status }),
    toStream: () => {
      throw new Error("answers are read whole");
    },
    toJSON: async () => JSON.parse(body),
  };
}
