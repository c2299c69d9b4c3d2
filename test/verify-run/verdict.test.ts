import { describe, expect, test } from "vitest";
import type { Evidence } from "./evidence.ts";
import { judge, printsAmount } from "./verdict.ts";

const queue = {
  name: "billing-jobs",
  isDeadLetterQueue: false,
  visible: 0,
  inFlight: 0,
  delayed: 0,
  sent: 3,
  deleted: 3,
  leftOtherwise: 0,
  arrivedOtherwise: 0,
};
const deadLetters = {
  ...queue,
  name: "billing-jobs-dead",
  isDeadLetterQueue: true,
  sent: 0,
  deleted: 0,
};
const paid = {
  tenantId: "acme",
  invoiceId: "inv-1",
  isPaid: true,
  currency: "EUR",
  totalMinor: 123_456,
  paidMinor: 123_456,
  paymentId: "pi_1",
  sumOfPartsMinor: 123_456,
};
const open = {
  tenantId: "acme",
  invoiceId: "inv-2",
  isPaid: false,
  currency: "EUR",
  totalMinor: 5,
  sumOfPartsMinor: 5,
};
const receipt = {
  path: "acme/inv-1.pdf",
  pages: 1,
  keywords: { tenant: "acme", invoice: "inv-1", currency: "EUR", total: "123456", paid: "123456" },
  text: "Total  1.234,56 €",
};
const charge = {
  ...{ tenantId: "acme", invoiceId: "inv-1", paymentId: "pi_1", amountMinor: 123_456 },
};
const capture = {
  ...{ tenantId: "acme", jobType: "payment.capture", jobId: "capture-inv-1-1", state: "DONE" },
  effects: { charge: "DONE ok" },
};
const whole: Evidence = {
  charges: [charge],
  ledger: [capture],
  queues: [queue, deadLetters],
  invoices: [paid, open],
  receipts: [receipt],
  receiptPaths: ["acme/inv-1.pdf"],
  otherPaths: [],
};

const faultsOf = (evidence: Partial<Evidence>) =>
  judge({ ...whole, ...evidence }).flatMap(({ faults }) => faults);

describe("the verdict on a run", () => {
  test("is clean when every promise is kept", () => {
    expect(judge(whole).map(({ name, faults }) => [name, faults])).toEqual([
      ["queues are empty: nothing visible, in flight or delayed", []],
      ["nothing was dead-lettered", []],
      ["sent + enqueued = deleted, at the server", []],
      ["invoices add up: lines + taxes = total = payment", []],
      ["exactly one charge for each captured invoice, none for others", []],
      ["every record of the job ledger is done, and so is each of its effects", []],
      ["as many receipts as paid invoices", []],
      ["no unfinished file beside the receipts", []],
      ["every receipt is a PDF that pdfinfo opens", []],
      ["exactly one receipt for each paid invoice, none for others", []],
      ["receipt keywords say the invoice's totals", []],
      ["the printed text shows the invoice's total", []],
    ]);
  });

  test.each<[string, Partial<Evidence>, string[]]>([
    [
      "an invoice that was charged twice",
      { charges: [charge, { ...charge, paymentId: "pi_2" }], ledger: [capture, capture] },
      ["acme/inv-1: charged 2 times instead of 1"],
    ],
    [
      "a captured invoice that nobody was charged for",
      { charges: [], ledger: [] },
      ["acme/inv-1: charged 0 times instead of 1"],
    ],
    [
      "a charge of another amount by another payment",
      { charges: [{ ...charge, amountMinor: 1, paymentId: "pi_2" }] },
      ["acme/inv-1: charged 1 by pi_2; the invoice says 123456 by pi_1"],
    ],
    [
      "a charge for an invoice that is open, and one for none at all",
      {
        charges: [charge, { ...charge, invoiceId: "inv-2" }, { ...charge, invoiceId: "inv-9" }],
        ledger: [capture, capture, capture],
      },
      [
        "acme/inv-2: charged 1 times instead of 0",
        "acme/inv-9: charged, and no invoice of the table",
      ],
    ],
    [
      "a parked job whose charge is in doubt",
      { ledger: [{ ...capture, state: "PARKED", effects: { charge: "UNKNOWN" } }] },
      [
        "acme/payment.capture capture-inv-1-1: PARKED",
        "acme/payment.capture capture-inv-1-1: its effect charge is UNKNOWN",
      ],
    ],
    [
      "a charge that the ledger knows nothing of",
      { ledger: [] },
      ["1 charges, 0 records of a charge"],
    ],
    [
      "a message in flight",
      { queues: [{ ...queue, inFlight: 1 }, deadLetters] },
      ["billing-jobs: 0 visible, 1 in flight, 0 delayed"],
    ],
    [
      "a dead letter that somebody has removed since",
      { queues: [queue, { ...deadLetters, sent: 1, deleted: 1 }] },
      ["billing-jobs-dead: 1 arrived"],
    ],
    [
      "a message that expired instead of being deleted",
      { queues: [{ ...queue, deleted: 2, leftOtherwise: 1 }, deadLetters] },
      ["billing-jobs: 3 sent, 2 deleted, 0 arrived and 1 left in other ways"],
    ],
    [
      "a run that never sent anything",
      { queues: [{ ...queue, sent: 0, deleted: 0 }, deadLetters] },
      ["billing-jobs: nothing was ever sent"],
    ],
    [
      "a total that is not the sum of its parts",
      { invoices: [{ ...paid, sumOfPartsMinor: 123_455 }, open] },
      ["acme/inv-1: total 123456, parts 123455, paid 123456"],
    ],
    ["a file that was never renamed", { otherPaths: [".incoming/1234"] }, [".incoming/1234"]],
    [
      "a receipt that is missing",
      { receipts: [], receiptPaths: [] },
      [
        "1 paid invoices, 0 receipts",
        "there is nothing to look at",
        "acme/inv-1: 0 receipts instead of 1",
        "there is nothing to look at",
        "there is nothing to look at",
      ],
    ],
    [
      "a second receipt for the same invoice",
      {
        receipts: [receipt, { ...receipt, path: "acme/again.pdf" }],
        receiptPaths: ["acme/inv-1.pdf", "acme/again.pdf"],
      },
      ["1 paid invoices, 2 receipts", "acme/inv-1: 2 receipts instead of 1"],
    ],
    [
      "a receipt for an invoice that is open",
      {
        receipts: [{ ...receipt, keywords: { ...receipt.keywords, invoice: "inv-2" } }],
      },
      [
        "acme/inv-1: 0 receipts instead of 1",
        "acme/inv-2: 1 receipts instead of 0",
        "acme/inv-1.pdf: says 123456 EUR, 123456 paid; the invoice: 5 EUR, undefined paid",
        "acme/inv-1.pdf: 5 minor units of EUR stand nowhere in its text",
      ],
    ],
    [
      "a file that is no PDF",
      { receipts: [{ ...receipt, problem: "Couldn't read xref table", pages: 0 }] },
      ["acme/inv-1.pdf: Couldn't read xref table"],
    ],
    [
      "a print that differs from its keywords",
      { receipts: [{ ...receipt, text: "Total  1.234,65 €" }] },
      ["acme/inv-1.pdf: 123456 minor units of EUR stand nowhere in its text"],
    ],
  ])("names %s", (_, evidence, faults) => {
    expect(faultsOf(evidence)).toEqual(faults);
  });

  test("says nothing about the inside of files that nobody opened", () => {
    const { receipts: _, ...unopened } = whole;

    expect(judge(unopened).length).toBe(8);
  });
});

describe("an amount in a text", () => {
  test.each([
    ["1.234,56 €", 123_456, "EUR"],
    ["EUR 1,234.56", 123_456, "EUR"],
    ["CHF 1’234.56", 123_456, "CHF"],
    ["1 234,56 zł", 123_456, "PLN"],
    ["1\u202f234,56 €", 123_456, "EUR"],
    ["¥123,456", 123_456, "JPY"],
    ["KWD 123.456", 123_456, "KWD"],
    ["£0.05.", 5, "GBP"],
    ["-0.05", -5, "GBP"],
  ])("is found in `%s`", (text, minorUnits, currency) => {
    expect(printsAmount(text, minorUnits, currency)).toBe(true);
  });

  test.each([
    ["11.234,56 €", 123_456, "EUR"],
    ["1.234,567 €", 123_456, "EUR"],
    ["9.123,45 and 6", 12_345, "EUR"],
    ["123456", 123_456, "EUR"],
    ["£10.05", 5, "GBP"],
    ["£0.051", 5, "GBP"],
    ["", 5, "GBP"],
  ])("is not found in `%s`", (text, minorUnits, currency) => {
    expect(printsAmount(text, minorUnits, currency)).toBe(false);
  });
});
