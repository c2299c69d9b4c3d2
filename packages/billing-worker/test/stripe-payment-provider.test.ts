import { createServer } from "node:net";
import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChargeRequest } from "../payment/payment-provider.ts";
import type { SandboxFault } from "../payment/payment-sandbox.ts";
import { StripePaymentProvider } from "../payment/stripe-payment-provider.ts";
import {
  chargeOfInvoice,
  providerAt,
  sameCharge,
  startPaymentSite as setup,
} from "./payment-site.ts";

const retry: ChargeRequest = { ...chargeOfInvoice, isFirstAttempt: false };
const DAY_MS = 24 * 60 * 60 * 1000;

/** The first request about the invoice has the fault, the later ones have none. */
function withFault(fault: SandboxFault) {
  return setup({ faults: [{ fault, invoiceId: "INV-7", request: 1 }] });
}

describe("a charge through Stripe's SDK", () => {
  test("moves the money and names the payment", async () => {
    const { provider, stripe, chargeCount } = await setup();

    const answer = await provider.charge(chargeOfInvoice);

    expect(answer).toEqual({
      kind: "charged",
      paymentId: expect.stringMatching(/^pi_/),
      amountMinor: 43_576,
      currency: "EUR",
      chargedAtMs: Date.UTC(2026, 0, 1),
      method: "Visa ending 4242",
      isReplay: false,
      duplicatePaymentIds: [],
    });
    expect(await chargeCount()).toBe(1);
    const { paymentId } = answer as { readonly paymentId: string };
    expect(await stripe.paymentIntents.retrieve(paymentId)).toMatchObject({
      status: "succeeded",
      metadata: {
        tenant_id: "nordlicht",
        invoice_id: "INV-7",
        invoice_version: "1",
        charge_key: "key-1",
      },
    });
  });

  test("moves no more money under the same key, and gives the same payment", async () => {
    const { provider, chargeCount } = await setup();
    const first = await provider.charge(chargeOfInvoice);

    const second = await provider.charge(retry);

    expect(second).toEqual({ ...first, isReplay: true });
    expect(await chargeCount()).toBe(1);
  });

  test.each([
    ["pm_card_chargeDeclined", "generic_decline"],
    ["pm_card_visa_chargeDeclinedInsufficientFunds", "insufficient_funds"],
    ["pm_card_chargeDeclinedExpiredCard", "expired_card"],
    ["pm_card_authenticationRequired", "authentication_required"],
  ])("is rejected for good with %s: %s", async (paymentMethod, reason) => {
    const { provider, chargeCount } = await setup();
    const declined = { kind: "rejected", reason, paymentId: expect.stringMatching(/^pi_/) };

    expect(await provider.charge({ ...chargeOfInvoice, paymentMethod })).toEqual(declined);
    expect(await provider.charge({ ...retry, paymentMethod })).toEqual(declined);

    expect(await chargeCount()).toBe(0);
  });

  test("is rejected for parameters that nothing was executed for, at its first attempt only", async () => {
    const { provider } = await setup();
    const paymentMethod = "pm_gone";

    expect(await provider.charge({ ...chargeOfInvoice, paymentMethod })).toEqual({
      kind: "rejected",
      reason: "resource_missing",
    });
    expect(await provider.charge({ ...retry, paymentMethod })).toMatchObject({
      kind: "unknown",
      reason: "refused-after-an-attempt: resource_missing",
    });
  });

  test("is unknown, not rejected, when the key was used with another amount", async () => {
    const { provider, chargeCount } = await setup();
    await provider.charge(chargeOfInvoice);

    const other = { ...chargeOfInvoice, amountMinor: 1 };

    expect(await provider.charge(other)).toMatchObject({
      kind: "unknown",
      reason: "key-used-otherwise",
      isStored: true,
    });
    expect(await chargeCount()).toBe(1);
  });

  test("is charged a second time once the provider has forgotten the key", async () => {
    const { provider, clock, chargeCount } = await setup();
    await provider.charge(chargeOfInvoice);

    await clock.advance(DAY_MS - 1);
    await provider.charge(retry);
    expect(await chargeCount()).toBe(1);
    await clock.advance(1);
    await provider.charge(retry);

    expect(await chargeCount()).toBe(2);
  });
});

describe("a charge whose answer is lost", () => {
  test.each([
    ["no-answer", "before", 0],
    ["no-answer", "after", 1],
  ] as const)(
    "is unknown at its deadline (%s %s), and charged once by the next attempt",
    async (kind, when, appliedByFirst) => {
      const { provider, clock, heardAtLeast, chargeCount } = await withFault({ kind, when });
      const first = provider.charge(chargeOfInvoice);
      await heardAtLeast(1);

      await clock.advance(9_999);
      await clock.advance(1);

      expect(await first).toMatchObject({ kind: "unknown", reason: "timed-out", isStored: false });
      expect(await chargeCount()).toBe(appliedByFirst);
      expect(await provider.charge(retry)).toMatchObject({
        kind: "charged",
        isReplay: appliedByFirst === 1,
      });
      expect(await chargeCount()).toBe(1);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  test.each([
    ["reset", "before", 0],
    ["reset", "after", 1],
  ] as const)(
    "is unknown after one wire attempt (%s %s), although the SDK would repeat it",
    async (kind, when, appliedByFirst) => {
      const { provider, heard, chargeCount } = await withFault({ kind, when });

      expect(await provider.charge(chargeOfInvoice)).toMatchObject({
        kind: "unknown",
        reason: "connection-lost",
      });

      expect(heard).toHaveLength(1);
      expect(await chargeCount()).toBe(appliedByFirst);
      expect(await provider.charge(retry)).toMatchObject({ kind: "charged" });
      expect(await chargeCount()).toBe(1);
    },
  );

  test("is unknown when its job is stopped meanwhile, at once", async () => {
    const { provider, heardAtLeast, clock } = await withFault({ kind: "no-answer", when: "after" });
    const job = new AbortController();
    const charge = provider.charge({ ...chargeOfInvoice, signal: job.signal });
    await heardAtLeast(1);

    job.abort();

    expect(await charge).toMatchObject({ kind: "unknown", reason: "stopped" });
    expect(clock.pendingTimers).toBe(0);
  });

  test("is unknown while it may still land, and replayed once it has", async () => {
    const { provider, clock, heardAtLeast, chargeCount } = await withFault({
      kind: "late-landing",
      delayMs: 60_000,
    });
    const first = provider.charge(chargeOfInvoice);
    await heardAtLeast(1);
    await clock.advance(10_000);
    expect(await first).toMatchObject({ kind: "unknown", reason: "timed-out" });

    expect(await provider.charge(retry)).toMatchObject({
      kind: "unknown",
      reason: "key-in-use",
      isStored: false,
    });
    expect(await chargeCount()).toBe(0);
    await clock.advance(50_000);

    expect(await chargeCount()).toBe(1);
    expect(await provider.charge(retry)).toMatchObject({ kind: "charged", isReplay: true });
    expect(await chargeCount()).toBe(1);
  });

  test.each([
    ["before", 0, false],
    ["stored", 0, true],
    ["after", 1, true],
  ] as const)(
    "is unknown after a 500 %s the effect, with %d charges",
    async (when, applied, isStored) => {
      const { provider, chargeCount } = await withFault({ kind: "server-error", when });

      expect(await provider.charge(chargeOfInvoice)).toMatchObject({
        kind: "unknown",
        reason: "http-500",
        isStored,
      });
      expect(await chargeCount()).toBe(applied);
    },
  );

  test("stays unknown as long as the stored 500 is replayed, but can be found", async () => {
    const { provider, chargeCount } = await withFault({ kind: "server-error", when: "after" });
    await provider.charge(chargeOfInvoice);

    expect(await provider.charge(retry)).toMatchObject({ kind: "unknown", isStored: true });
    expect(await provider.find(sameCharge)).toMatchObject({ kind: "charged" });
    expect(await chargeCount()).toBe(1);
  });
});

describe("a charge that was not applied", () => {
  test("waits as long as a rate limit asks", async () => {
    const { provider, chargeCount } = await withFault({ kind: "rate-limit", retryAfterSeconds: 7 });

    expect(await provider.charge(chargeOfInvoice)).toMatchObject({
      kind: "not-applied",
      why: "rate-limited",
      retryAfterMs: 7_000,
    });
    expect(await chargeCount()).toBe(0);
    expect(await provider.charge(chargeOfInvoice)).toMatchObject({
      kind: "charged",
      isReplay: false,
    });
  });

  test("was not sent when nobody listens", async () => {
    const { sandbox, clock } = await setup();
    await sandbox.close();

    expect(await providerAt(sandbox.endpoint, clock).charge(chargeOfInvoice)).toMatchObject({
      kind: "not-applied",
      why: "unsent",
      problem: "no connection to the payment provider (ECONNREFUSED)",
    });
  });

  test("was not sent when its job had been stopped before", async () => {
    const { provider, heard } = await setup();

    const answer = await provider.charge({ ...chargeOfInvoice, signal: AbortSignal.abort() });

    expect(answer).toMatchObject({ kind: "not-applied", why: "unsent" });
    expect(heard).toEqual([]);
  });

  test("is unknown when the connection was accepted and then closed without a word", async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { readonly port: number };

    const provider = providerAt(`http://127.0.0.1:${port}`, new ManualClock());

    expect(await provider.charge(chargeOfInvoice)).toMatchObject({
      kind: "unknown",
      reason: "connection-lost",
    });
  });

  test("says that the credentials are wrong, without showing them", async () => {
    const { sandbox, clock } = await setup();
    const access = { secretKey: "sk_live_secret", endpoint: sandbox.endpoint };

    const answer = await new StripePaymentProvider(access, clock).charge(chargeOfInvoice);

    expect(answer).toEqual({
      kind: "not-applied",
      why: "misconfigured",
      problem: "Stripe refuses the credentials with HTTP 401: check STRIPE_SECRET_KEY",
    });
  });

  test.each(["", "pk_test_1", "secret"])("never begins with the key %j", (secretKey) => {
    expect(() => new StripePaymentProvider({ secretKey }, new ManualClock())).toThrow(
      "the secret key of the payment provider must start with sk_live_, sk_test_, rk_live_ or " +
        "rk_test_: set STRIPE_SECRET_KEY",
    );
  });
});

describe("finding a charge by its key", () => {
  test("tells a payment, a refusal and nothing apart", async () => {
    const { provider } = await setup();
    expect(await provider.find(sameCharge)).toEqual({ kind: "absent" });
    await provider.charge(chargeOfInvoice);
    const paymentMethod = "pm_card_chargeDeclined";
    await provider.charge({ ...chargeOfInvoice, key: "key-2", paymentMethod });

    expect(await provider.find(sameCharge)).toMatchObject({
      kind: "charged",
      ...{ amountMinor: 43_576, method: "Visa ending 4242", isReplay: true },
      duplicatePaymentIds: [],
    });
    expect(await provider.find({ ...sameCharge, key: "key-2" })).toMatchObject({
      kind: "rejected",
      reason: "generic_decline",
    });
  });

  test("names every payment beyond the first", async () => {
    const { provider, clock } = await setup();
    const first = await provider.charge(chargeOfInvoice);
    await clock.advance(DAY_MS);
    const second = await provider.charge(retry);

    expect(await provider.find(sameCharge)).toMatchObject({
      paymentId: (first as { paymentId: string }).paymentId,
      duplicatePaymentIds: [(second as { paymentId: string }).paymentId],
    });
  });

  test("finds what was just charged although searches are behind", async () => {
    const { provider } = await setup({ searchLagMs: 60_000 });
    await provider.charge(chargeOfInvoice);

    expect(await provider.find(sameCharge)).toMatchObject({ kind: "charged" });
  });

  test("looks at nothing older than the question", async () => {
    const { provider, clock } = await setup();
    await provider.charge(chargeOfInvoice);
    await clock.advance(5_000);

    const sinceAtMs = clock.wallMs();

    expect(await provider.find({ ...sameCharge, sinceAtMs })).toEqual({ kind: "absent" });
  });

  test("proves no absence among too many payments, but still finds by search", async () => {
    const { provider, clock } = await setup({ searchLagMs: 60_000 });
    await provider.charge(chargeOfInvoice);
    for (let index = 0; index < 500; index += 1) {
      await provider.charge({ ...chargeOfInvoice, key: `other-${index}` });
    }

    expect(await provider.find(sameCharge)).toEqual({
      kind: "unknown",
      reason: "too-many-payments",
    });
    await clock.advance(60_000);
    expect(await provider.find(sameCharge)).toMatchObject({ kind: "charged" });
  });

  test("is unknown when nobody listens", async () => {
    const { provider, sandbox } = await setup();
    await sandbox.close();

    expect(await provider.find(sameCharge)).toMatchObject({
      kind: "unknown",
      reason: "StripeConnectionError",
    });
  });
});
