import { describe, expect, test } from "vitest";
import type { PaidInvoice } from "../invoice/invoice.ts";
import type { RenderPool } from "../receipt/render-pool.ts";
import { jobBench } from "./job-bench.ts";
import { draft, issued, payment } from "./sample-invoice.ts";

const pdf = Buffer.from("%PDF");
const key = { tenantId: "nordlicht", invoiceId: "INV-7" };
const webhook = { invoiceId: "INV-7", ...payment };
const receipt = {
  type: "receipt.render",
  jobId: "INV-7.v2",
  payload: { invoiceId: "INV-7", version: 2 },
};

function setup(render: RenderPool["render"] = async () => pdf) {
  return jobBench(render);
}

describe("invoice.issue", () => {
  test("computes the totals and stores the invoice", async () => {
    const { run, invoices } = setup();

    expect(await run("invoice.issue", draft)).toEqual({ kind: "issued" });

    expect(await invoices.find(key)).toMatchObject({ ...draft, totalMinor: 43_576, version: 1 });
  });

  test("changes nothing when it runs again, even after the payment", async () => {
    const { run, invoices } = setup();
    await run("invoice.issue", draft);
    await run("payment.webhook", webhook);

    expect(await run("invoice.issue", draft)).toEqual({ kind: "unchanged" });

    expect(await invoices.find(key)).toMatchObject({ version: 2, payment });
  });

  test("refuses another invoice under the same id for good", async () => {
    const { run } = setup();
    await run("invoice.issue", draft);

    await expect(run("invoice.issue", { ...draft, dueOn: "2026-03-01" })).rejects.toMatchObject({
      code: "PERMANENT_JOB_FAILURE",
      reason: "another invoice was issued under this id",
    });
  });

  test("refuses a total that no invoice can have for good", async () => {
    const { run } = setup();
    const lines = [{ ...draft.lines[0], unitPriceMinor: -1 }];

    await expect(run("invoice.issue", { ...draft, lines })).rejects.toMatchObject({
      code: "PERMANENT_JOB_FAILURE",
      reason: "total must be above 0 minor units, got -4",
    });
  });

  test.each([
    ["a float for a quantity", { lines: [{ ...draft.lines[0], quantity: 2.5 }] }],
    ["a float of minor units", { lines: [{ ...draft.lines[0], unitPriceMinor: 0.5 }] }],
    ["a price beyond exact numbers", { lines: [{ ...draft.lines[0], unitPriceMinor: 2 ** 53 }] }],
    ["a tax above 100 %", { lines: [{ ...draft.lines[0], taxRateBasisPoints: 10_001 }] }],
    ["no lines", { lines: [] }],
    ["501 lines", { lines: Array(501).fill(draft.lines[0]) }],
    ["an unknown currency", { currency: "ZZZ" }],
    ["a day that is none", { issuedOn: "2026-02-30" }],
    ["a locale that is none", { locale: "english" }],
    ["an id with a line break", { invoiceId: "INV\n7" }],
    ["a lone surrogate", { note: "\ud800" }],
  ])("takes no payload with %s", async (_, changes) => {
    const { run } = setup();

    await expect(run("invoice.issue", { ...draft, ...changes })).rejects.toThrow();
  });
});

describe("payment.webhook", () => {
  test("marks the invoice paid and asks for its receipt", async () => {
    const { run, invoices, sent } = setup();
    await invoices.issue(issued());

    expect(await run("payment.webhook", webhook)).toBe("paid");

    expect(await invoices.find(key)).toMatchObject({ version: 2, payment });
    expect(sent).toEqual([receipt]);
  });

  test("asks for the same receipt again when the same event comes again", async () => {
    const { run, invoices, sent } = setup();
    await invoices.issue(issued());
    await run("payment.webhook", webhook);

    expect(await run("payment.webhook", webhook)).toBe("already-paid");

    expect(sent).toEqual([receipt, receipt]);
  });

  test("fails when the receipt cannot be asked for, so that it runs again", async () => {
    const { run, invoices, breakSending } = setup();
    await invoices.issue(issued());
    breakSending();

    await expect(run("payment.webhook", webhook)).rejects.toThrow("the queue is unreachable");
  });

  test.each([
    [1, 1_000],
    [2, 2_000],
    [5, 16_000],
    [7, 60_000],
    [2_000, 60_000],
  ])(
    "comes back later when the invoice is not there yet: receive %d waits %d ms",
    async (receives, delayMs) => {
      const { run, sent } = setup();

      await expect(
        run("payment.webhook", webhook, { receiveCount: receives }),
      ).rejects.toMatchObject({
        code: "RETRY_LATER",
        delayMs,
      });
      expect(sent).toEqual([]);
    },
  );

  test.each([
    [
      "amount",
      { amountMinor: 43_577 },
      "amount or currency of the payment differ from the invoice's",
    ],
    [
      "currency",
      { currency: "USD" },
      "amount or currency of the payment differ from the invoice's",
    ],
  ])("refuses another %s for good and leaves the invoice open", async (_, changes, reason) => {
    const { run, invoices, sent } = setup();
    await invoices.issue(issued());

    await expect(run("payment.webhook", { ...webhook, ...changes })).rejects.toMatchObject({
      code: "PERMANENT_JOB_FAILURE",
      reason,
    });
    expect(await invoices.find(key)).toMatchObject({ version: 1 });
    expect(sent).toEqual([]);
  });

  test("is the job of its event: under another id the same event would be another job", async () => {
    const { run, invoices } = setup();
    await invoices.issue(issued());

    await expect(run("payment.webhook", webhook, { jobId: "evt_2" })).rejects.toMatchObject({
      code: "PERMANENT_JOB_FAILURE",
      reason: "the job id must be the id of its event, evt_1",
    });
    expect(await invoices.find(key)).toMatchObject({ version: 1 });
  });

  test("books two events about one payment once, and asks for the same receipt", async () => {
    const { run, invoices, sent } = setup();
    await invoices.issue(issued());
    await run("payment.webhook", { ...webhook, paymentId: "pi_1" });

    const second = { ...webhook, eventId: "evt_2", paymentId: "pi_1" };

    expect(await run("payment.webhook", second)).toBe("already-paid");
    expect(await invoices.find(key)).toMatchObject({ version: 2, payment: { eventId: "evt_1" } });
    expect(sent).toEqual([receipt, receipt]);
  });

  test("refuses a second payment for good, and says which event was first", async () => {
    const { run, invoices } = setup();
    await invoices.issue(issued());
    await run("payment.webhook", webhook);

    await expect(run("payment.webhook", { ...webhook, eventId: "evt_2" })).rejects.toMatchObject({
      code: "PERMANENT_JOB_FAILURE",
      reason: "the invoice was paid already, by event evt_1: refund one of the two",
    });
  });
});

describe("receipt.render", () => {
  const wanted = receipt.payload;

  test("renders the paid invoice and stores the receipt", async () => {
    const rendered: PaidInvoice[] = [];
    const { run, invoices, receipts } = setup(async (invoice) => {
      rendered.push(invoice);
      return pdf;
    });
    await invoices.issue(issued());
    await run("payment.webhook", webhook);

    expect(await run("receipt.render", wanted)).toBe("stored");

    expect(rendered).toMatchObject([{ invoiceId: "INV-7", totalMinor: 43_576, payment }]);
    expect(receipts.get("INV-7")).toEqual(pdf);
  });

  test("ends with the reason of its signal when the render is aborted, and stores nothing", async () => {
    const begun = Promise.withResolvers<void>();
    const { run, invoices, receipts, abort } = setup((_, signal) => {
      begun.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    });
    await invoices.issue(issued());
    await run("payment.webhook", webhook);

    const running = run("receipt.render", wanted);
    await begun.promise;
    const reason = new Error("drain deadline");
    abort(reason);

    await expect(running).rejects.toBe(reason);
    expect(receipts.size).toBe(0);
  });

  test("leaves an older version to the job of the newer one", async () => {
    const { run, invoices, receipts } = setup();
    await invoices.issue(issued());
    await run("payment.webhook", webhook);

    expect(await run("receipt.render", { ...wanted, version: 1 })).toBe("superseded");
    expect(receipts.size).toBe(0);
  });

  test("refuses an invoice that does not exist or is not paid for good", async () => {
    const { run, invoices } = setup();
    const permanent = { code: "PERMANENT_JOB_FAILURE" };

    await expect(run("receipt.render", wanted)).rejects.toMatchObject(permanent);
    await invoices.issue(issued());
    await expect(run("receipt.render", wanted)).rejects.toMatchObject(permanent);
    await expect(run("receipt.render", { ...wanted, version: 1 })).rejects.toMatchObject({
      ...permanent,
      reason: "the invoice is not paid",
    });
  });
});
