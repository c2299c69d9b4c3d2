import { describe, expect, onTestFinished, test } from "vitest";
import { startPaymentSandbox } from "../payment/payment-sandbox.ts";
import { plainStripe, startPaymentSite as setup, temporaryFile } from "./payment-site.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const parameters = {
  amount: 2_000,
  currency: "eur",
  payment_method: "pm_card_visa",
  confirm: true,
  metadata: { invoice_id: "INV-7", tenant_id: "nordlicht" },
};
const underKey = { idempotencyKey: "key-1" };

function refusal(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  return promise.then(
    () => Promise.reject(new Error("was not refused")),
    (error: Record<string, unknown>) => error,
  );
}

describe("an idempotency key", () => {
  test("replays the stored answer, and says so in a header", async () => {
    const { stripe, sandbox } = await setup();

    const first = await stripe.paymentIntents.create(parameters, underKey);
    const second = await stripe.paymentIntents.create(parameters, underKey);

    expect(second.id).toBe(first.id);
    expect(first.lastResponse.headers).not.toHaveProperty("idempotent-replayed");
    expect(second.lastResponse.headers).toMatchObject({
      "idempotent-replayed": "true",
      "original-request": first.lastResponse.requestId,
    });
    expect(second.lastResponse.requestId).not.toBe(first.lastResponse.requestId);
    expect(sandbox.charges).toHaveLength(1);
  });

  test("compares parameters and address, not their order", async () => {
    const { stripe } = await setup();
    const { id } = await stripe.paymentIntents.create(parameters, underKey);
    const { metadata, ...rest } = parameters;
    const reordered = { metadata, ...rest };

    expect((await stripe.paymentIntents.create(reordered, underKey)).id).toBe(id);
    for (const attempt of [
      stripe.paymentIntents.create({ ...parameters, amount: 2_001 }, underKey),
      stripe.paymentIntents.cancel(id, {}, underKey),
    ]) {
      expect(await refusal(attempt)).toMatchObject({
        type: "StripeIdempotencyError",
        rawType: "idempotency_error",
        statusCode: 400,
      });
    }
  });

  test("is kept for a day, from the answer on", async () => {
    const { stripe, clock } = await setup();
    const { id } = await stripe.paymentIntents.create(parameters, underKey);

    await clock.advance(DAY_MS - 1);
    expect((await stripe.paymentIntents.create(parameters, underKey)).id).toBe(id);
    await clock.advance(1);

    expect((await stripe.paymentIntents.create(parameters, underKey)).id).not.toBe(id);
  });

  test("keeps a declined card's answer", async () => {
    const { stripe } = await setup();
    const declined = { ...parameters, payment_method: "pm_card_chargeDeclined" };

    const first = await refusal(stripe.paymentIntents.create(declined, underKey));
    const second = await refusal(stripe.paymentIntents.create(declined, underKey));

    expect(first).toMatchObject({
      type: "StripeCardError",
      statusCode: 402,
      code: "card_declined",
      decline_code: "generic_decline",
      message: "Your card was declined.",
      payment_intent: { status: "requires_payment_method" },
    });
    expect(second["payment_intent"]).toEqual(first["payment_intent"]);
  });

  test("is not used up by what was refused before anything was executed", async () => {
    const { stripe, sandbox } = await setup({
      faults: [{ fault: { kind: "rate-limit", retryAfterSeconds: 1 }, request: 1 }],
    });
    const stranger = plainStripe(sandbox.endpoint, "sk_live_1");

    const statuses = [
      await refusal(stripe.paymentIntents.create(parameters, underKey)),
      await refusal(stranger.paymentIntents.create(parameters, underKey)),
      await refusal(stripe.paymentIntents.create({ ...parameters, amount: 0 }, underKey)),
    ].map(({ statusCode }) => statusCode);

    expect(statuses).toEqual([429, 401, 400]);
    expect((await stripe.paymentIntents.create(parameters, underKey)).status).toBe("succeeded");
  });

  test("may be missing: then every request is one of its own", async () => {
    const { sandbox } = await setup();
    const body = new URLSearchParams({ amount: "5", currency: "eur" });
    const send = () =>
      fetch(`${sandbox.endpoint}/v1/payment_intents`, {
        method: "POST",
        headers: { authorization: "Bearer sk_test_1" },
        body,
      }).then((answer) => answer.json() as Promise<{ readonly id: string }>);

    expect((await send()).id).not.toBe((await send()).id);
  });
});

describe("a payment intent", () => {
  test("moves money when it is captured, not when it is authorized", async () => {
    const { stripe, sandbox } = await setup();
    const manual = { ...parameters, capture_method: "manual" as const };

    const { id, status } = await stripe.paymentIntents.create(manual);
    expect([status, sandbox.charges.length]).toEqual(["requires_capture", 0]);
    const captured = await stripe.paymentIntents.capture(id, { amount_to_capture: 1_500 });

    expect(captured).toMatchObject({ status: "succeeded", amount: 2_000, amount_received: 1_500 });
    expect(sandbox.charges).toEqual([
      {
        chargeId: captured.latest_charge,
        paymentId: id,
        tenantId: "nordlicht",
        invoiceId: "INV-7",
        amountMinor: 1_500,
        currency: "eur",
        key: expect.stringMatching(/^stripe-node-retry-/),
        atMs: Date.UTC(2026, 0, 1),
      },
    ]);
  });

  test("is confirmed in a request of its own, again after a declined card", async () => {
    const { stripe, sandbox } = await setup();
    const { confirm: _, payment_method: __, ...open } = parameters;
    const { id, status } = await stripe.paymentIntents.create(open);

    expect(status).toBe("requires_payment_method");
    const bad = { payment_method: "pm_card_visa_chargeDeclinedInsufficientFunds" };
    await refusal(stripe.paymentIntents.confirm(id, bad));
    const confirmed = await stripe.paymentIntents.confirm(id, { payment_method: "pm_card_visa" });

    expect(confirmed.status).toBe("succeeded");
    expect(sandbox.charges).toHaveLength(1);
  });

  test("is canceled while it is open, and moves no more money then", async () => {
    const { stripe, sandbox } = await setup();
    const { id } = await stripe.paymentIntents.create({ ...parameters, confirm: false });

    const canceled = await stripe.paymentIntents.cancel(id, { cancellation_reason: "duplicate" });

    expect(canceled).toMatchObject({ status: "canceled", cancellation_reason: "duplicate" });
    for (const attempt of [
      stripe.paymentIntents.confirm(id),
      stripe.paymentIntents.capture(id),
      stripe.paymentIntents.cancel(id),
    ]) {
      expect(await refusal(attempt)).toMatchObject({ code: "payment_intent_unexpected_state" });
    }
    expect(sandbox.charges).toEqual([]);
  });

  test.each([
    [{ amount: undefined }, "parameter_missing", "amount"],
    [{ amount: 1.5 }, "parameter_invalid_integer", "amount"],
    [{ amount: 100_000_000 }, "amount_too_large", "amount"],
    [{ currency: "euro" }, undefined, "currency"],
    [{ payment_method: "pm_gone" }, "resource_missing", "payment_method"],
    [{ metadata: { note: "x".repeat(501) } }, undefined, "metadata"],
    [{ colour: "red" }, "parameter_unknown", "colour"],
  ])("cannot be made with %j", async (changes, code, param) => {
    const { stripe } = await setup();
    const attempt = stripe.paymentIntents.create({ ...parameters, ...changes } as never);

    const found = await refusal(attempt);

    expect(found).toMatchObject({ type: "StripeInvalidRequestError", statusCode: 400, param });
    expect(found["code"]).toBe(code);
  });

  test("that does not exist is not found", async () => {
    const { stripe } = await setup();

    expect(await refusal(stripe.paymentIntents.retrieve("pi_gone"))).toMatchObject({
      statusCode: 404,
      code: "resource_missing",
      message: "No such payment_intent: 'pi_gone'",
    });
  });
});

describe("a search", () => {
  test("finds by metadata and status what is older than the lag", async () => {
    const { stripe, clock } = await setup({ searchLagMs: 60_000 });
    const query = "metadata['invoice_id']:'INV-7' AND status:\"succeeded\"";
    const found = async () => (await stripe.paymentIntents.search({ query })).data.length;
    await stripe.paymentIntents.create(parameters);
    await stripe.paymentIntents.create({ ...parameters, metadata: { invoice_id: "INV-8" } });

    expect(await found()).toBe(0);
    await clock.advance(59_999);
    expect(await found()).toBe(0);
    await clock.advance(1);

    expect(await found()).toBe(1);
  });

  test("shows an intent as it was, not as it is", async () => {
    const { stripe, clock } = await setup({ searchLagMs: 60_000 });
    const query = "metadata['invoice_id']:'INV-7'";
    const { id } = await stripe.paymentIntents.create({ ...parameters, confirm: false });
    await clock.advance(60_000);
    await stripe.paymentIntents.confirm(id);

    expect((await stripe.paymentIntents.search({ query })).data[0]?.status).toBe(
      "requires_confirmation",
    );
    expect((await stripe.paymentIntents.retrieve(id)).status).toBe("succeeded");
  });

  test("takes quotes within a value, and refuses what it cannot do", async () => {
    const { stripe } = await setup();
    const metadata = { invoice_id: "it's" };
    await stripe.paymentIntents.create({ ...parameters, metadata });

    const query = "metadata['invoice_id']:'it\\'s'";
    expect((await stripe.paymentIntents.search({ query })).data).toHaveLength(1);
    const other = { query: "amount>100" };
    expect(await refusal(stripe.paymentIntents.search(other))).toMatchObject({ param: "query" });
  });

  test("is no list: a list is never behind, newest first, page by page", async () => {
    const { stripe, clock } = await setup({ searchLagMs: 60_000 });
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      ids.push((await stripe.paymentIntents.create(parameters)).id);
      await clock.advance(1_000);
    }

    const first = await stripe.paymentIntents.list({ limit: 2 });
    const last = first.data.at(-1)?.id ?? "";
    const second = await stripe.paymentIntents.list({ limit: 2, starting_after: last });

    expect([first.has_more, second.has_more]).toEqual([true, false]);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.reverse());
  });
});

describe("faults", () => {
  test("come by invoice and by the count of its requests", async () => {
    const fault = { kind: "server-error", when: "before" } as const;
    const { stripe } = await setup({ faults: [{ fault, invoiceId: "INV-7", request: 2 }] });
    const outcomes: unknown[] = [];
    for (const invoice_id of ["INV-8", "INV-7", "INV-8", "INV-7", "INV-7"]) {
      const attempt = stripe.paymentIntents.create({ ...parameters, metadata: { invoice_id } });
      outcomes.push(await attempt.then(() => 200).catch(({ statusCode }) => statusCode));
    }

    expect(outcomes).toEqual([200, 200, 200, 500, 200]);
  });

  test("can be replaced while it runs, and are refused when they are none", async () => {
    const { stripe, sandbox } = await setup();
    const put = (body: unknown) =>
      fetch(`${sandbox.endpoint}/_leasehold/faults`, {
        method: "PUT",
        body: JSON.stringify(body),
      });

    expect((await put([{ fault: { kind: "rate-limit", retryAfterSeconds: 1 } }])).status).toBe(200);
    expect(await refusal(stripe.paymentIntents.create(parameters))).toMatchObject({
      statusCode: 429,
      headers: { "retry-after": "1" },
    });
    const wrong = await put([{ fault: { kind: "reset", when: "during" } }]);
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      {
        error: {
          message:
            '{"fault":{"kind":"reset","when":"during"}} is not a fault rule: when must be one of before, after',
        },
      },
    ]);
  });

  test.each([
    null,
    { fault: { kind: "timeout" } },
    { fault: { kind: "late-landing" } },
    { fault: { kind: "rate-limit", retryAfterSeconds: -1 } },
    { fault: { kind: "reset", when: "after" }, request: 0 },
  ])("cannot be %j", async (rule) => {
    const file = temporaryFile();

    await expect(startPaymentSandbox({ file, faults: [rule as never] })).rejects.toMatchObject({
      code: "PAYMENT_SANDBOX",
      message: expect.stringContaining(`${JSON.stringify(rule)} is not a fault rule`),
    });
  });
});

describe("the sandbox", () => {
  test("says by HTTP how often an invoice was charged", async () => {
    const { stripe, sandbox } = await setup();
    for (const invoice_id of ["INV-7", "INV-7", "INV-8"]) {
      await stripe.paymentIntents.create({
        ...parameters,
        metadata: { ...parameters.metadata, invoice_id },
      });
    }
    const countOf = async (query: string) => {
      const answer = await fetch(`${sandbox.endpoint}/_leasehold/charges${query}`);
      return ((await answer.json()) as { readonly count: number }).count;
    };

    expect(await countOf("")).toBe(3);
    expect(await countOf("?invoice=INV-7")).toBe(2);
    expect(await countOf("?invoice=INV-7&tenant=nordlicht")).toBe(2);
    expect(await countOf("?invoice=INV-7&tenant=acme")).toBe(0);
  });

  test("takes no live key, and shows none", async () => {
    const { sandbox } = await setup();
    const stranger = plainStripe(sandbox.endpoint, "sk_live_very_secret");

    const { statusCode, message } = await refusal(stranger.paymentIntents.retrieve("pi_1"));

    expect(statusCode).toBe(401);
    expect(message).toContain("Invalid API Key provided: sk_live_***");
    expect(message).not.toContain("very_secret");
  });

  test("names a port that is taken, and leaves the file alone", async () => {
    const { sandbox } = await setup();
    const port = Number(new URL(sandbox.endpoint).port);

    await expect(startPaymentSandbox({ file: temporaryFile(), port })).rejects.toMatchObject({
      code: "PAYMENT_SANDBOX",
      message: `port ${port} on 127.0.0.1 is taken: stop what listens there, or choose another port`,
    });
  });

  test("stops although a client still waits, and twice", async () => {
    const { stripe, sandbox, heardAtLeast } = await setup({
      faults: [{ fault: { kind: "no-answer", when: "before" } }],
    });
    const waiting = refusal(stripe.paymentIntents.create(parameters));
    await heardAtLeast(1);

    await sandbox.close();
    await sandbox.close();

    expect(await waiting).toMatchObject({ type: "StripeConnectionError" });
  });

  test("lets a late request land after a restart", async () => {
    const { stripe, sandbox, heardAtLeast, file, clock } = await setup({
      faults: [{ fault: { kind: "late-landing", delayMs: 60_000 }, request: 1 }],
    });
    const waiting = refusal(stripe.paymentIntents.create(parameters, underKey));
    await heardAtLeast(1);
    await sandbox.close();
    await waiting;
    const again = await startPaymentSandbox({ file, clock });
    onTestFinished(() => again.close());
    const create = () => plainStripe(again.endpoint).paymentIntents.create(parameters, underKey);

    expect(await refusal(create())).toMatchObject({ code: "idempotency_key_in_use" });
    await clock.advance(60_000);

    expect((await create()).status).toBe("succeeded");
    expect(again.charges).toHaveLength(1);
  });
});
