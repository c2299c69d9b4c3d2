import { checkPayload } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { computeTotals } from "../invoice/invoice-math.ts";
import { issueInvoicePayload } from "../jobs/issue-invoice.ts";
import { paymentWebhookPayload } from "../jobs/payment-webhook.ts";
import { type SampleJob, sampleJobs } from "../sample-jobs.ts";

const schemas: Readonly<Record<"invoice.issue" | "payment.webhook", z.ZodType>> = {
  "invoice.issue": issueInvoicePayload,
  "payment.webhook": paymentWebhookPayload,
};

function ofType(jobs: readonly SampleJob[], type: keyof typeof schemas) {
  return jobs.filter((job) => job.type === type);
}

describe("sampleJobs", () => {
  test("makes the same jobs of the same seed and other ids of another", () => {
    expect(sampleJobs({ count: 50, seed: 1 })).toEqual(sampleJobs({ count: 50, seed: 1 }));

    const ids = (seed: number) => sampleJobs({ count: 50, seed }).map(({ jobId }) => jobId);
    expect(ids(1).filter((id) => ids(2).includes(id))).toEqual([]);
  });

  test.each([1, 2, 3, 50, 51])("makes exactly %d, half of them invoices", (count) => {
    const jobs = sampleJobs({ count, seed: 7 });

    expect(jobs).toHaveLength(count);
    expect(ofType(jobs, "invoice.issue")).toHaveLength(Math.ceil(count / 2));
    expect(ofType(jobs, "payment.webhook")).toHaveLength(Math.floor(count / 2));
  });

  test("makes payloads that their jobs take and amounts that are the invoices'", async () => {
    const jobs = sampleJobs({ count: 400, seed: 3 });
    const totals = new Map<string, number>();
    for (const { jobId, payload } of ofType(jobs, "invoice.issue")) {
      const { lines } = issueInvoicePayload.parse(payload);
      totals.set(jobId, computeTotals(lines).totalMinor);
    }

    for (const { type, payload } of jobs) {
      const check = await checkPayload(schemas[type as keyof typeof schemas], payload);
      expect(check).toMatchObject({ kind: "ok" });
    }
    for (const { payload } of ofType(jobs, "payment.webhook")) {
      const { invoiceId, amountMinor } = paymentWebhookPayload.parse(payload);
      expect(amountMinor).toBe(totals.get(invoiceId));
    }
  });

  test("has several tenants and currencies, long invoices, discounts and early webhooks", () => {
    const jobs = sampleJobs({ count: 200, seed: 5 });
    const drafts = ofType(jobs, "invoice.issue").map(({ payload }) =>
      issueInvoicePayload.parse(payload),
    );
    const places = new Map(jobs.map(({ jobId }, index) => [jobId, index]));
    const isEarly = ({ invoiceId }: { readonly invoiceId: string }) =>
      (places.get(`evt_${invoiceId}`) ?? 0) < (places.get(invoiceId) ?? 0);

    expect(new Set(jobs.map(({ tenantId }) => tenantId)).size).toBe(6);
    expect(new Set(drafts.map(({ currency }) => currency))).toEqual(
      new Set(["EUR", "GBP", "JPY", "KWD", "USD"]),
    );
    expect(drafts.some(({ lines }) => lines.length > 100)).toBe(true);
    expect(drafts.some(({ lines }) => lines.some((line) => line.unitPriceMinor < 0))).toBe(true);
    expect(drafts.filter(isEarly).length).toBeGreaterThan(5);
  });
});
