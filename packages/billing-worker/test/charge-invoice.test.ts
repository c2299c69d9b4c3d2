import { describe, expect, test } from "vitest";
import { captureJob, capturePaymentPayload } from "../jobs/capture-payment.ts";
import {
  CHARGE_TIMEOUT_MS,
  chargeInvoice,
  findCharge,
  type InvoiceCharge,
  KEY_WINDOW_MS,
  paymentOf,
} from "../payment/charge-invoice.ts";
import type { Charged } from "../payment/payment-provider.ts";
import type { FaultRule } from "../payment/payment-sandbox.ts";
import { MemoryInvoiceStore } from "./memory-invoice-store.ts";
import { startPaymentSite } from "./payment-site.ts";
import { issued } from "./sample-invoice.ts";

const signal = new AbortController().signal;
const means = { paymentMethod: "pm_card_visa" };
const charge: InvoiceCharge = {
  invoice: { ...issued(), version: 1 },
  means,
  jobCreatedAtMs: Date.UTC(2026, 0, 1),
};
const first = { key: "key-1", signal, attempt: 1 };
const second = { ...first, attempt: 2 };

function setup(...faults: readonly FaultRule[]) {
  return startPaymentSite({ faults });
}

describe("chargeInvoice", () => {
  test("charges the invoice's own total, in its currency, for its tenant", async () => {
    const { provider, sandbox } = await setup();

    await chargeInvoice(provider, charge, first);

    expect(sandbox.charges).toMatchObject([
      {
        tenantId: "nordlicht",
        invoiceId: "INV-7",
        amountMinor: 43_576,
        currency: "eur",
        key: "key-1",
      },
    ]);
  });

  test("asks the provider's books when the stored answer is a 500, and charges once", async () => {
    const { provider, sandbox } = await setup({
      fault: { kind: "server-error", when: "after" },
      request: 1,
    });

    expect(await chargeInvoice(provider, charge, first)).toMatchObject({ kind: "charged" });
    expect(await chargeInvoice(provider, charge, second)).toMatchObject({ kind: "charged" });

    expect(sandbox.charges).toHaveLength(1);
  });

  test("stays unknown when the books show nothing, since the provider does not know itself", async () => {
    const { provider } = await setup({
      fault: { kind: "server-error", when: "stored" },
      request: 1,
    });

    expect(await chargeInvoice(provider, charge, first)).toMatchObject({
      kind: "unknown",
      reason: "http-500",
    });
  });

  test("does not look when the answer may still change", async () => {
    const { provider, heard, heardAtLeast, clock } = await setup({
      fault: { kind: "late-landing", delayMs: 60_000 },
      request: 1,
    });
    const lost = chargeInvoice(provider, charge, first);
    await heardAtLeast(1);
    await clock.advance(15_000);
    await lost;

    expect(await chargeInvoice(provider, charge, second)).toMatchObject({
      kind: "unknown",
      reason: "key-in-use",
    });
    expect(heard.map(({ method }) => method)).toEqual(["POST", "POST"]);
  });

  test("names a payment that was taken once too often", async () => {
    const { provider, clock, sandbox } = await setup({
      fault: { kind: "server-error", when: "after" },
      request: 2,
    });
    await chargeInvoice(provider, charge, first);
    await clock.advance(24 * 60 * 60 * 1000);

    const answer = await chargeInvoice(provider, charge, second);

    expect(answer).toMatchObject({
      kind: "charged",
      duplicatePaymentIds: [sandbox.charges[1]?.paymentId],
    });
  });

  test("ends within its own time limit whatever the provider does", async () => {
    const { provider, heardAtLeast, clock } = await setup({
      fault: { kind: "no-answer", when: "before" },
    });
    const answer = chargeInvoice(provider, charge, first);
    await heardAtLeast(1);

    await clock.advance(CHARGE_TIMEOUT_MS);

    expect(await answer).toMatchObject({ kind: "unknown", reason: "timed-out" });
  });

  test("trusts the provider to know a key for less time than it keeps it", () => {
    expect(KEY_WINDOW_MS + CHARGE_TIMEOUT_MS).toBeLessThan(24 * 60 * 60 * 1000);
  });
});

describe("findCharge", () => {
  test("finds what was charged since the job was made, and tells it from nothing", async () => {
    const { provider } = await setup();
    expect(await findCharge(provider, charge, first)).toEqual({ kind: "absent" });

    await chargeInvoice(provider, charge, first);

    expect(await findCharge(provider, charge, first)).toMatchObject({ kind: "charged" });
  });
});

describe("paymentOf", () => {
  test("books the same payment however often it is learnt of, and knows it in its event", async () => {
    const { provider, clock } = await setup();
    const invoices = new MemoryInvoiceStore();
    await invoices.issue(issued());
    const once = (await chargeInvoice(provider, charge, first)) as Charged;
    await clock.advance(60_000);
    const again = (await chargeInvoice(provider, charge, second)) as Charged;

    expect(paymentOf(once)).toEqual({
      eventId: once.paymentId,
      paymentId: once.paymentId,
      amountMinor: 43_576,
      currency: "EUR",
      paidAt: "2026-01-01T00:00:00.000Z",
      method: "Visa ending 4242",
    });
    expect(paymentOf(again)).toEqual(paymentOf(once));
    const key = { tenantId: "nordlicht", invoiceId: "INV-7" };
    expect((await invoices.pay(key, paymentOf(once))).kind).toBe("paid");
    const event = { ...paymentOf(once), eventId: "evt_1" };
    expect((await invoices.pay(key, event)).kind).toBe("already-paid");
  });
});

describe("captureJob", () => {
  test("is named by the invoice and its version, whatever pays", () => {
    const { invoice } = charge;

    expect(captureJob(invoice, means)).toEqual({
      type: "payment.capture",
      jobId: "capture-INV-7-1",
      payload: { invoiceId: "INV-7", version: 1, paymentMethod: "pm_card_visa" },
    });
    expect(captureJob(invoice, { ...means, customer: "cus_1" }).jobId).toBe("capture-INV-7-1");
    expect(captureJob({ ...invoice, version: 2 }, means).jobId).toBe("capture-INV-7-2");
  });

  test("takes no amount from its sender", () => {
    const { payload } = captureJob(charge.invoice, means);

    expect(capturePaymentPayload.parse({ ...(payload as object), amountMinor: 1 })).toEqual(
      payload,
    );
  });
});
