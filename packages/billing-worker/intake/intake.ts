/** Takes webhooks and requests for invoices over HTTP, and sends them on as jobs. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@leasehold/clock";
import type { JobToSend, Producer, SendResult } from "leasehold";
import { issueInvoicePayload } from "../jobs/issue-invoice.ts";
import { paymentWebhookPayload } from "../jobs/payment-webhook.ts";
import { readStripeEvent } from "./stripe-event.ts";

/** What the intake is made of. */
export interface IntakeParts {
  /** Best with `whenFull: "refuse"`: whoever asks is then told to come again, and waits for nobody. */
  readonly producer: Pick<Producer, "send" | "close">;
  /** Of the endpoint at Stripe, `whsec_...`. */
  readonly webhookSecret: string;
  readonly clock: Clock;
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
}

/** A running intake. */
export interface Intake {
  /** For example `http://127.0.0.1:8081`. */
  readonly url: string;
  /**
   * Takes nothing more, answers what is under way, and sends what is left.
   * @returns jobs that are not surely on the queue; none of them was answered with 202
   */
  close(withinMs: number): Promise<readonly { readonly jobId: string }[]>;
}

/** What is answered. */
interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Stripe's events and this service's invoices are far smaller; a message of SQS is no larger. */
const MAX_BODY_BYTES = 1_048_576;
const RETRY_AFTER_SECONDS = 2;

/**
 * Starts it: `POST /webhooks/stripe` and `POST /invoices`.
 *
 * A 202 is only said for a job that is on the queue. Whatever is in doubt is a 503, and sending it again
 * is safe: the job's id is the event's, or the invoice's, so it is the same job.
 *
 * @throws whatever `listen` says when the address is taken
 */
export async function startIntake(parts: IntakeParts): Promise<Intake> {
  const underWay = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const answered = serve(parts, request, response);
    underWay.add(answered);
    void answered.finally(() => underWay.delete(answered));
  });
  await listen(server, parts);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${parts.host}:${port}`,
    close: async (withinMs) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const { unsent } = await parts.producer.close({ withinMs });
      await Promise.all(underWay);
      server.closeAllConnections();
      await closed;
      return unsent;
    },
  };
}

async function serve(
  parts: IntakeParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let answer: Answer;
  try {
    answer = await answerTo(parts, request);
  } catch {
    // The client is gone, or something here is broken: in both cases it is to come again.
    answer = { status: 503, body: { error: "not-taken" } };
  }
  response.writeHead(answer.status, {
    "content-type": "application/json",
    ...(answer.status === 503 && { "retry-after": String(RETRY_AFTER_SECONDS) }),
    // What is left of a body that nobody reads must not be taken for the next request.
    ...(answer.status === 413 && { connection: "close" }),
  });
  response.end(JSON.stringify(answer.body));
}

async function answerTo(parts: IntakeParts, request: IncomingMessage): Promise<Answer> {
  const { method, url = "" } = request;
  const route = method === "POST" ? url : "";
  if (route !== "/webhooks/stripe" && route !== "/invoices") {
    return { status: 404, body: { error: "there are POST /webhooks/stripe and POST /invoices" } };
  }
  const rawBody = await readBody(request);
  if (rawBody === undefined) {
    return { status: 413, body: { error: `a body may have ${MAX_BODY_BYTES} bytes` } };
  }
  if (route === "/invoices") return await takeInvoice(parts, rawBody);
  return await takeWebhook(parts, rawBody, String(request.headers["stripe-signature"] ?? ""));
}

async function takeWebhook(
  { producer, webhookSecret, clock }: IntakeParts,
  rawBody: Uint8Array,
  signature: string,
): Promise<Answer> {
  const delivery = readStripeEvent(rawBody, signature, webhookSecret, clock);
  switch (delivery.kind) {
    case "unsigned":
      return { status: 400, body: { error: "the signature does not fit the body" } };
    case "ignored":
      return { status: 200, body: { ignored: delivery.why } };
    case "payment": {
      const { tenantId, payload } = delivery;
      const kind = { type: "payment.webhook", schema: paymentWebhookPayload };
      const job = { tenantId, jobId: payload.eventId, payload };
      return answerOf(await producer.send(kind, job as JobToSend));
    }
  }
}

async function takeInvoice({ producer }: IntakeParts, rawBody: Uint8Array): Promise<Answer> {
  const { tenantId, invoice } = parseRequest(rawBody);
  if (typeof tenantId !== "string") {
    return { status: 400, body: { error: 'the body must be {"tenantId": ..., "invoice": ...}' } };
  }
  const checked = issueInvoicePayload.safeParse(invoice);
  if (!checked.success) {
    const problems = checked.error.issues.map(({ path, code }) => `${path.join(".")}: ${code}`);
    return { status: 400, body: { error: "the invoice is none", problems } };
  }
  const job = { tenantId, jobId: checked.data.invoiceId, payload: checked.data };
  const kind = { type: "invoice.issue", schema: issueInvoicePayload };
  return answerOf(await producer.send(kind, job as JobToSend));
}

function answerOf(result: SendResult): Answer {
  switch (result.kind) {
    case "sent":
      return { status: 202, body: { job_id: result.jobId } };
    case "failed":
      return { status: 503, body: { error: "not-taken", job_id: result.jobId } };
    case "refused": {
      const { code, message } = result.error;
      // Only what is wrong with the job itself is the fault of whoever sent it.
      const isBusy = code === "JOB_NOT_ACCEPTED" || code === "SEND_FAILED";
      return { status: isBusy ? 503 : 400, body: { error: isBusy ? "not-taken" : message } };
    }
  }
}

function parseRequest(rawBody: Uint8Array): {
  readonly tenantId?: unknown;
  readonly invoice?: unknown;
} {
  try {
    return Object(JSON.parse(Buffer.from(rawBody).toString("utf8")));
  } catch {
    return {};
  }
}

/** The whole body; `undefined` when it is larger than any that this service can have. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (Number(request.headers["content-length"]) > MAX_BODY_BYTES) return undefined;
  // Not destroyed: the answer goes over the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks);
}

function listen(server: Server, { host, port }: Pick<IntakeParts, "host" | "port">): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, () => {
    server.off("error", reject);
    resolve();
  });
  return promise;
}
