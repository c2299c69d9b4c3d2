import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import { createProducer, type Producer } from "leasehold";
import Stripe from "stripe";
import { describe, expect, onTestFinished, test } from "vitest";
import { BILLING_QUEUE, billingContract } from "../contract.ts";
import { startIntake } from "../intake/intake.ts";
import { draft } from "./sample-invoice.ts";

const SECRET = "whsec_test";
const NOW_SECONDS = Date.UTC(2026, 0, 20, 10) / 1_000;

/** As Stripe sends one, as far as it matters. */
function paymentEvent(changes: object = {}, type = "payment_intent.succeeded"): string {
  const metadata = { tenant_id: "nordlicht", invoice_id: "INV-7" };
  const object = {
    ...{ id: "pi_1", object: "payment_intent", amount_received: 43_576, currency: "eur" },
    ...{ payment_method_types: ["card"], metadata, ...changes },
  };
  return JSON.stringify({
    id: "evt_1",
    object: "event",
    created: NOW_SECONDS,
    type,
    data: { object },
  });
}

function signed(payload: string, { secret = SECRET, atSeconds = NOW_SECONDS } = {}) {
  return Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: atSeconds });
}

async function openQueue() {
  const aws = await startLocalAws({ mode: "embedded", clock: systemClock });
  onTestFinished(() => aws.close());
  const { queueUrls } = await provision({ contract: billingContract("drill"), clients: aws });
  const queueUrl = queueUrls[BILLING_QUEUE] ?? "";
  return { aws, queueUrl, receive: () => bodiesOf(aws, queueUrl) };
}

async function bodiesOf({ embedded }: LocalAws, QueueUrl: string) {
  const answer = await embedded?.account.perform("ReceiveMessage", {
    QueueUrl,
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: 0,
  });
  return (answer?.Messages ?? []).map(({ Body }) => JSON.parse(Body));
}

async function setup(producer?: Pick<Producer, "send" | "close">) {
  const { aws, queueUrl, receive } = await openQueue();
  const clock = new ManualClock(NOW_SECONDS * 1_000);
  const intake = await startIntake({
    producer: producer ?? createProducer({ client: aws.sqs, queueUrl, clock: systemClock }),
    ...{ webhookSecret: SECRET, clock, host: "127.0.0.1", port: 0 },
  });
  onTestFinished(() => void intake.close(0));
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${intake.url}${path}`, { method: "POST", body, headers });
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, body: await response.json(), retryAfter };
  };
  const webhook = (body: string, signature = signed(body)) =>
    post("/webhooks/stripe", body, { "stripe-signature": signature });
  return { intake, post, webhook, receive };
}

describe("the intake of webhooks", () => {
  test("takes a payment whose signature fits, as the job of its event", async () => {
    const { webhook, receive } = await setup();
    expect(await webhook(paymentEvent())).toMatchObject({ status: 202, body: { job_id: "evt_1" } });
    expect(await receive()).toMatchObject([
      {
        ...{ type: "payment.webhook", job_id: "evt_1", tenant_id: "nordlicht" },
        payload: {
          ...{ eventId: "evt_1", paymentId: "pi_1", invoiceId: "INV-7", amountMinor: 43_576 },
          ...{ currency: "EUR", paidAt: "2026-01-20T10:00:00.000Z", method: "card" },
        },
      },
    ]);
  });

  test.each([
    ["another secret", (body: string) => signed(body, { secret: "whsec_other" })],
    ["another body", () => signed(paymentEvent({ amount_received: 1 }))],
    ["the same body with other spaces", (body: string) => signed(`${body} `)],
    [
      "more than five minutes ago",
      (body: string) => signed(body, { atSeconds: NOW_SECONDS - 301 }),
    ],
    ["nothing", () => ""],
  ])("believes nothing that was signed with %s", async (_, sign) => {
    const { webhook, receive } = await setup();
    const body = paymentEvent();
    expect(await webhook(body, sign(body))).toMatchObject({
      status: 400,
      body: { error: "the signature does not fit the body" },
    });
    expect(await receive()).toEqual([]);
  });

  test.each([
    ["another event", paymentEvent({}, "payment_intent.created"), "payment_intent.created"],
    [
      "a payment of something else",
      paymentEvent({ metadata: {} }),
      "a payment without tenant_id and invoice_id in its metadata",
    ],
    [
      "a currency that nobody here bills in",
      paymentEvent({ currency: "xxx" }),
      "a payment that no invoice here can have",
    ],
  ])("tells Stripe that %s has arrived, and sends nothing", async (_, body, ignored) => {
    const { webhook, receive } = await setup();
    expect(await webhook(body)).toMatchObject({ status: 200, body: { ignored } });
    expect(await receive()).toEqual([]);
  });

  test("proves the signature on the bytes that came, not on what they mean", async () => {
    const { webhook } = await setup();
    const spaced = JSON.stringify(JSON.parse(paymentEvent()), null, 2);
    expect(await webhook(spaced)).toMatchObject({ status: 202 });
  });

  test("takes the same delivery twice as the same job", async () => {
    const { webhook, receive } = await setup();
    await Promise.all([webhook(paymentEvent()), webhook(paymentEvent())]);
    expect((await receive()).map(({ job_id }) => job_id)).toEqual(["evt_1", "evt_1"]);
  });
});

describe("the intake of invoices", () => {
  test("takes one, as the job of its id", async () => {
    const { post, receive } = await setup();
    const body = JSON.stringify({ tenantId: "nordlicht", invoice: draft });
    expect(await post("/invoices", body)).toMatchObject({ status: 202, body: { job_id: "INV-7" } });
    expect(await receive()).toMatchObject([
      { type: "invoice.issue", job_id: "INV-7", payload: { invoiceId: "INV-7" } },
    ]);
  });

  test.each([
    ["no JSON", "no json", { error: 'the body must be {"tenantId": ..., "invoice": ...}' }],
    [
      "no invoice",
      '{"tenantId":"nordlicht","invoice":{"lines":"secret"}}',
      { error: "the invoice is none" },
    ],
    [
      "a tenant that is none",
      JSON.stringify({ tenantId: " x", invoice: draft }),
      { error: expect.stringContaining("tenant_id must not be empty or start or end") },
    ],
  ])("says what is wrong with %s, and sends nothing", async (_, body, error) => {
    const { post, receive } = await setup();
    const answer = await post("/invoices", body);
    expect(answer).toMatchObject({ status: 400, body: error });
    expect(JSON.stringify(answer.body)).not.toContain("secret");
    expect(await receive()).toEqual([]);
  });
});

describe("the intake", () => {
  test("says 202 for nothing that is not on the queue", async () => {
    const error = Object.assign(new Error("no answer"), { code: "SEND_FAILED" }) as never;
    const results = [
      { kind: "failed", error, maybeSent: true, jobId: "evt_1" },
      { kind: "refused", error },
      { kind: "refused", error: Object.assign(new Error("full"), { code: "JOB_NOT_ACCEPTED" }) },
    ];
    const { webhook } = await setup({
      send: async () => results.shift() as never,
      close: async () => ({ unsent: [] }),
    });
    for (const _ of [1, 2, 3]) {
      expect(await webhook(paymentEvent())).toMatchObject({ status: 503, retryAfter: "2" });
    }
  });

  test.each(["/", "/webhooks/stripe/", "/invoices?x=1"])("knows no path %s", async (path) => {
    const { post } = await setup();
    expect(await post(path, "{}")).toMatchObject({ status: 404 });
  });

  test("refuses a body that no message could carry, also when its length is not told", async () => {
    const { intake, post } = await setup();
    const large = "x".repeat(1_048_577);
    expect(await post("/invoices", large)).toMatchObject({ status: 413 });
    const chunked = request(`${intake.url}/invoices`, { method: "POST" });
    chunked.on("error", () => {}); // the rest of the body has nobody who reads it
    chunked.write(large);
    const [response] = await once(chunked, "response");
    expect(response.statusCode).toBe(413);
    chunked.destroy();
  });

  test("answers what is under way when it closes, and takes nothing more", async () => {
    const sent = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { intake, webhook } = await setup({
      send: async () => {
        asked.resolve();
        await sent.promise;
        return { kind: "sent", jobId: "evt_1", messageId: "m-1" };
      },
      close: async () => {
        sent.resolve();
        return { unsent: [] };
      },
    });
    const answered = webhook(paymentEvent());
    await asked.promise;
    expect(await intake.close(1_000)).toEqual([]);
    expect(await answered).toMatchObject({ status: 202 });
    await expect(webhook(paymentEvent())).rejects.toThrow();
  });
});

test("the intake as a process sends what it has taken, and ends with 0 on SIGTERM", async () => {
  const { aws, receive } = await openQueue();
  const environment = {
    ...{ ...process.env, ...aws.environment },
    ...{ STRIPE_WEBHOOK_SECRET: SECRET, BILLING_INTAKE_PORT: "0" },
  };
  const child = spawn(
    process.execPath,
    ["--conditions=source", join(import.meta.dirname, "../webhook-intake.ts")],
    {
      env: Object.fromEntries(
        Object.entries(environment).filter(([, value]) => value !== undefined),
      ),
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [first] = await once(lines, "line");
  const { url } = JSON.parse(first);
  const body = JSON.stringify({ tenantId: "nordlicht", invoice: draft });
  const response = await fetch(`${url}/invoices`, { method: "POST", body });
  expect(response.status).toBe(202);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(await receive()).toMatchObject([{ job_id: "INV-7" }]);
});
