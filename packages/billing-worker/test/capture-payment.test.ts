import { describe, expect, test } from "vitest";
import { captureBench, invoiceKey } from "./capture-bench.ts";
import { payment } from "./sample-invoice.ts";

const HOUR_MS = 3_600_000;
const receipt = {
  type: "receipt.render",
  jobId: "INV-7.v2",
  payload: { invoiceId: "INV-7", version: 2 },
};

describe("payment.capture", () => {
  test("charges the invoice, books the payment and asks for the receipt", async () => {
    const { deliver, invoices, sandbox, sent, record } = await captureBench();

    expect(await deliver()).toEqual({
      ...{ kind: "returned", result: "paid", recorded: { kind: "recorded" } },
    });

    expect(sandbox.charges).toMatchObject([
      { invoiceId: "INV-7", tenantId: "nordlicht", amountMinor: 43_576, currency: "eur" },
    ]);
    const { payment: booked, version } = (await invoices.find(invoiceKey)) ?? {};
    expect(version).toBe(2);
    expect(booked).toMatchObject({ amountMinor: 43_576, method: "Visa ending 4242" });
    expect(booked?.paymentId).toMatch(/^pi_/);
    expect(sent).toEqual([receipt]);
    expect(await record()).toMatchObject({
      state: "done",
      effects: { charge: { state: "done", outcome: "ok", tombstone: true, attempts: 1 } },
    });
  });

  test.each(["after the charge", "before the receipt"] as const)(
    "charges once when its worker dies %s",
    async (diesAt) => {
      const { deliver, clock, chargeCount, sent } = await captureBench();

      expect(await deliver({ diesAt })).toMatchObject({ kind: "threw" });
      expect(sent).toEqual([]);
      await clock.advance(HOUR_MS);
      const again = await deliver();

      expect(again).toMatchObject({ kind: "returned", recorded: { kind: "recorded" } });
      expect(await chargeCount()).toBe(1);
      expect(sent).toEqual([receipt]);
      expect(await deliver()).toEqual({ kind: "turned-away", why: "done" });
    },
  );

  test.each([
    ["cut off after the charge", { kind: "reset", when: "after" }],
    ["answered by a 500 after the charge", { kind: "server-error", when: "after" }],
    ["cut off before the charge", { kind: "reset", when: "before" }],
    ["answered by a 500 before the charge", { kind: "server-error", when: "before" }],
  ] as const)("charges once when it is %s", async (_, fault) => {
    const { deliver, clock, chargeCount, invoices, sent } = await captureBench([
      { fault, request: 1 },
    ]);

    await deliver();
    await clock.advance(HOUR_MS);
    await deliver();

    expect(await chargeCount()).toBe(1);
    expect((await invoices.find(invoiceKey))?.version).toBe(2);
    expect(new Set(sent.map(({ jobId }) => jobId))).toEqual(new Set(["INV-7.v2"]));
    expect(await deliver()).toEqual({ kind: "turned-away", why: "done" });
  });

  test.each([
    ["whose answer never comes", { kind: "no-answer", when: "after" }],
    ["that lands after the provider was given up", { kind: "late-landing", delayMs: 40_000 }],
  ] as const)("charges once by a request %s", async (_, fault) => {
    const { deliver, clock, heardAtLeast, chargeCount, sent } = await captureBench([
      { fault, request: 1 },
    ]);

    const first = deliver();
    await heardAtLeast(1);
    await clock.advance(20_000);
    expect(await first).toMatchObject({ kind: "threw", outcome: undefined });
    await clock.advance(HOUR_MS);

    expect(await deliver()).toMatchObject({ kind: "returned", result: "paid" });
    expect(await chargeCount()).toBe(1);
    expect(sent).toEqual([receipt]);
  });

  test("charges once when it asks again while the first request has still to land", async () => {
    const fault = { kind: "late-landing", delayMs: 40_000 } as const;
    const bench = await captureBench([{ fault, request: 1 }]);
    const { deliver, clock, heardAtLeast, chargeCount, heard } = bench;
    const first = deliver();
    await heardAtLeast(1);
    await clock.advance(20_000);
    await first;

    expect(await deliver()).toMatchObject({
      error: { message: "the outcome of the charge is unknown: key-in-use" },
    });

    expect([heard.length, await chargeCount()]).toEqual([2, 0]);
    await clock.advance(HOUR_MS);
    expect(await deliver()).toMatchObject({ kind: "returned", result: "paid" });
    expect(await chargeCount()).toBe(1);
  });

  test("comes back when the provider asks it to, and has not failed by that", async () => {
    const fault = { kind: "rate-limit", retryAfterSeconds: 30 } as const;
    const { deliver, chargeCount, record } = await captureBench([{ fault, request: 1 }]);

    expect(await deliver()).toMatchObject({ kind: "threw", outcome: "held-back" });
    expect(await record()).toMatchObject({
      ...{ state: "open", failures: 0 },
      effects: { charge: { state: "released" } },
    });
    expect(await deliver()).toMatchObject({ kind: "returned", result: "paid" });
    expect(await chargeCount()).toBe(1);
  });

  test("asks a provider that wants a pause by no delivery before that is over", async () => {
    const fault = { kind: "rate-limit", retryAfterSeconds: 30 } as const;
    const rules = [{ fault, request: 1 }];
    const { deliver, clock, heard, chargeCount, record } = await captureBench(rules, {
      isOneWorker: true,
    });
    await deliver();
    await clock.advance(29_999);

    expect(await deliver()).toMatchObject({ kind: "threw", outcome: "held-back" });
    expect([heard.length, await chargeCount()]).toEqual([1, 0]);
    await clock.advance(1);

    expect(await deliver()).toMatchObject({ kind: "returned", result: "paid" });
    expect([heard.length, await chargeCount()]).toEqual([2, 1]);
    expect(await record()).toMatchObject({ state: "done", failures: 0 });
  });

  test.each([
    ["cuts off every request", { kind: "reset", when: "before" }],
    ["answers every request by a 500", { kind: "server-error", when: "before" }],
    ["cuts off every answer", { kind: "reset", when: "after" }],
  ] as const)(
    "leaves a provider that %s alone but for probes, and has not failed by that",
    async (_, fault) => {
      const bench = await captureBench([{ fault }], { isOneWorker: true });
      const { deliver, clock, sandbox, heard, chargeCount, record, sent } = bench;
      const outcomes: unknown[] = [];
      for (let delivery = 1; delivery <= 9; delivery += 1) {
        if (delivery === 7) await clock.advance(5_000);
        const ended = await deliver();
        outcomes.push("outcome" in ended ? ended.outcome : ended.kind);
      }

      const held = "held-back";
      expect(outcomes).toEqual([undefined, undefined, held, held, held, held, held, held, held]);
      expect(heard).toHaveLength(4);
      expect(await record()).toMatchObject({ state: "open", failures: 0 });
      sandbox.setFaults([]);
      await clock.advance(10_000);

      expect(await deliver()).toMatchObject({ kind: "returned", result: "paid" });
      expect(await chargeCount()).toBe(1);
      expect(sent).toEqual([receipt]);
    },
  );

  test("waits for an operator when its policy is to park", async () => {
    const fault = { kind: "reset", when: "after" } as const;
    const bench = await captureBench([{ fault, request: 1 }], { chargeRecovery: "park" });
    const { deliver, clock, chargeCount, record, sent } = bench;
    await deliver();
    await clock.advance(HOUR_MS);

    expect(await deliver()).toMatchObject({ kind: "threw", outcome: "parked" });

    expect(await record()).toMatchObject({ state: "parked", parked: { effect: "charge" } });
    expect(await chargeCount()).toBe(1);
    expect(sent).toEqual([]);
  });

  test("ends for good with the provider's reason when the card is refused, and asks it once", async () => {
    const { deliver, clock, chargeCount, invoices, heard, sent } = await captureBench();
    const payload = { paymentMethod: "pm_card_visa_chargeDeclinedInsufficientFunds" };

    const { error } = (await deliver({ payload })) as { readonly error: unknown };

    expect(error).toMatchObject({
      code: "PERMANENT_JOB_FAILURE",
      reason: "the payment was refused: insufficient_funds",
    });
    await clock.advance(HOUR_MS);
    expect(await deliver({ payload })).toEqual({ kind: "turned-away", why: "dead" });
    expect(heard).toHaveLength(1);
    expect(await chargeCount()).toBe(0);
    expect((await invoices.find(invoiceKey))?.version).toBe(1);
    expect(sent).toEqual([]);
  });

  test("charges nothing that was paid otherwise, also when that comes between look and charge", async () => {
    for (const isEarly of [true, false]) {
      const { deliver, invoices, heard, sent } = await captureBench();
      if (isEarly) await invoices.pay(invoiceKey, payment);
      else payAfterFirstLook(invoices);

      expect(await deliver()).toMatchObject({ kind: "returned", result: "paid_otherwise" });

      expect([heard, sent]).toEqual([[], []]);
    }
  });

  test("books its own charge although the provider's event came first", async () => {
    const { deliver, clock, invoices, sandbox, chargeCount, sent } = await captureBench();
    await deliver({ diesAt: "after the charge" });
    const { paymentId } = sandbox.charges[0] as { readonly paymentId: string };
    await invoices.pay(invoiceKey, { ...payment, paymentId });
    await clock.advance(HOUR_MS);

    expect(await deliver()).toMatchObject({ kind: "returned", result: "already-paid" });

    expect(await chargeCount()).toBe(1);
    expect(sent).toEqual([receipt]);
  });

  test("finds its own charge again although the event about it has made another version", async () => {
    const fault = { kind: "reset", when: "after" } as const;
    const bench = await captureBench([{ fault, request: 1 }]);
    const { deliver, clock, invoices, sandbox, chargeCount, heard, sent, record } = bench;
    await deliver();
    const { paymentId } = sandbox.charges[0] as { readonly paymentId: string };
    await invoices.pay(invoiceKey, { ...payment, paymentId });
    await clock.advance(HOUR_MS);

    expect(await deliver()).toMatchObject({ kind: "returned", result: "already-paid" });

    expect(await chargeCount()).toBe(1);
    expect(sent).toEqual([receipt]);
    expect(await record()).toMatchObject({ effects: { charge: { outcome: "ok", attempts: 2 } } });
    // The very same request again is enough: nothing has to be looked for.
    expect(heard).toHaveLength(2);
  });

  test("raises the alarm when money was taken for an invoice that another payment settled", async () => {
    const { deliver, clock, invoices, logged, sandbox } = await captureBench();
    await deliver({ diesAt: "after the charge" });
    await invoices.pay(invoiceKey, payment);
    await clock.advance(HOUR_MS);

    const { error } = (await deliver()) as { readonly error: unknown };

    const { paymentId } = sandbox.charges[0] as { readonly paymentId: string };
    expect(error).toMatchObject({
      reason: `payment ${paymentId} was charged and cannot be booked (paid-by-other-event): refund it`,
    });
    expect(logged).toMatchObject([{ fields: { payment_id: paymentId, alarm: true } }]);
  });

  test.each([
    [{ jobId: "capture-INV-7-2" }, "the job id must be made of the invoice and its version"],
    [{ jobId: "capture-INV-7-3", payload: { version: 3 } }, "has no version 3, it is at 1"],
  ])("refuses %j for good, before any charge", async (change, reason) => {
    const { deliver, heard } = await captureBench();

    expect(await deliver(change)).toMatchObject({
      error: { code: "PERMANENT_JOB_FAILURE", reason: expect.stringContaining(reason) },
    });
    expect(heard).toEqual([]);
  });

  test("comes again soon when the invoice is not there yet", async () => {
    const { deliver, heard } = await captureBench();
    const change = { jobId: "capture-INV-8-1", payload: { invoiceId: "INV-8" } };

    expect(await deliver(change)).toMatchObject({ error: { code: "RETRY_LATER", delayMs: 1_000 } });
    expect(await deliver(change)).toMatchObject({ error: { code: "RETRY_LATER", delayMs: 2_000 } });
    expect(heard).toEqual([]);
  });
});

/** Somebody pays just after the job has looked for the first time. */
function payAfterFirstLook(invoices: Awaited<ReturnType<typeof captureBench>>["invoices"]): void {
  const find = invoices.find.bind(invoices);
  let looks = 0;
  invoices.find = async (key) => {
    looks += 1;
    const found = await find(key);
    if (looks === 1) await invoices.pay(key, payment);
    return found;
  };
}
