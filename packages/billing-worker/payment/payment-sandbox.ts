/** A local payment provider that speaks the needed part of Stripe's HTTP API, and can fail on demand. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "@leasehold/clock";
import { PaymentSandboxError } from "../errors.ts";
import { SandboxBook } from "./sandbox-book.ts";
import type { SandboxAnswer, SandboxCharge } from "./sandbox-change.ts";
import { SandboxExchange } from "./sandbox-exchange.ts";
import { FaultPlan, type FaultRule } from "./sandbox-faults.ts";
import { type HeardRequest, SandboxProvider } from "./sandbox-provider.ts";

export type { SandboxCharge } from "./sandbox-change.ts";
export type { FaultRule, SandboxFault } from "./sandbox-faults.ts";
export { readCharges } from "./sandbox-file.ts";
export type { HeardRequest } from "./sandbox-provider.ts";

/** How it runs. */
export interface PaymentSandboxOptions {
  /** Where its charges are kept; made when it does not exist. One sandbox at a time per file. */
  readonly file: string;
  /** @defaultValue 0, any free port of the loopback address */
  readonly port?: number;
  /** @defaultValue the system's clock */
  readonly clock?: Clock;
  /** @defaultValue none */
  readonly faults?: readonly FaultRule[];
  /**
   * How long a change stays hidden from searches. At Stripe it is under a minute as a rule, and up
   * to an hour in an outage; lists and single intents are never behind.
   * @defaultValue 0
   * @see Stripe API Reference, "Search PaymentIntents"
   */
  readonly searchLagMs?: number;
  /** Told of every request to Stripe's addresses, before it is answered. */
  readonly onRequest?: (request: HeardRequest) => void;
}

/** A running provider. */
export interface PaymentSandbox {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  /** Every charge there ever was, oldest first, also those of earlier runs. */
  readonly charges: readonly SandboxCharge[];
  /** Other faults from now on. @throws PaymentSandboxError naming the rule that cannot be one */
  setFaults(rules: readonly FaultRule[]): void;
  /** Stops: no request is taken any more, silent ones are cut. May be called twice. */
  close(): Promise<void>;
}

/** Its own addresses, beside Stripe's. */
const CHARGES_PATH = "/_leasehold/charges";
const FAULTS_PATH = "/_leasehold/faults";
const HOST = "127.0.0.1";

/**
 * Starts the provider on the loopback address.
 *
 * `GET /_leasehold/charges?invoice=INV-7&tenant=acme` tells how often an invoice was charged, and
 * `PUT /_leasehold/faults` takes a JSON list of rules.
 *
 * @throws PaymentSandboxError when the port is taken, another sandbox has the file, or it is not one of a
 * payment sandbox
 */
export async function startPaymentSandbox(options: PaymentSandboxOptions): Promise<PaymentSandbox> {
  const {
    file,
    port = 0,
    clock = systemClock,
    searchLagMs = 0,
    onRequest: hear = () => {},
  } = options;
  const plan = new FaultPlan(options.faults ?? []);
  const server = createServer();
  await listen(server, port);
  const book = openBook(file, server);
  const provider = new SandboxProvider({ book, clock, plan, searchLagMs, hear });
  server.on("request", async (request, response) => {
    // A client that is gone before its request was whole hears nothing. Any other failure, a full
    // disk above all, ends the process: a provider that forgets charges is worse than none.
    const exchange = await SandboxExchange.read(request, response).catch(() => undefined);
    if (exchange === undefined) return;
    const own = ownAnswer(exchange, book.charges, plan);
    exchange.deliver(
      own === undefined ? provider.serve(exchange) : { kind: "answer", answer: own, headers: {} },
    );
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    await stop(server);
    provider.close();
    book.close();
  };
  return {
    endpoint: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    charges: book.charges,
    setFaults: (rules) => plan.replace(rules),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** The answer of an address that is no address of Stripe's; `undefined` for all others. */
function ownAnswer(
  { method, path, query, body }: SandboxExchange,
  charges: readonly SandboxCharge[],
  plan: FaultPlan,
): SandboxAnswer | undefined {
  if (!path.startsWith("/_leasehold/")) return undefined;
  if (method === "PUT" && path === FAULTS_PATH) return replacedFaults(plan, body);
  if (method !== "GET" || path !== CHARGES_PATH) {
    const message = `there is GET ${CHARGES_PATH} and PUT ${FAULTS_PATH}`;
    return { status: 404, body: { error: { message } } };
  }
  const asked = new Map(query);
  const found = charges.filter(
    ({ invoiceId, tenantId }) =>
      invoiceId === (asked.get("invoice") ?? invoiceId) &&
      tenantId === (asked.get("tenant") ?? tenantId),
  );
  return { status: 200, body: { count: found.length, charges: found } };
}

function replacedFaults(plan: FaultPlan, body: string): SandboxAnswer {
  try {
    const rules: unknown = JSON.parse(body);
    if (!Array.isArray(rules)) throw new PaymentSandboxError("the body must be a list of rules");
    plan.replace(rules as FaultRule[]);
    return { status: 200, body: { rules } };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof PaymentSandboxError)) throw error;
    return { status: 400, body: { error: { message: error.message } } };
  }
}

/** Opened once the port is ours, so that a second sandbox on it never touches the file. */
function openBook(file: string, server: Server): SandboxBook {
  try {
    return new SandboxBook(file);
  } catch (error) {
    server.close();
    throw error;
  }
}

async function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, HOST, () => resolve());
  try {
    await promise;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why =
      code === "EADDRINUSE"
        ? `port ${port} on ${HOST} is taken: stop what listens there, or choose another port`
        : `port ${port} on ${HOST} cannot be listened on: ${message}`;
    throw new PaymentSandboxError(why, { cause });
  }
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
