import { checkPayload } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { computeTotals } from "../invoice/invoice-math.ts";
import { capturePaymentPayload } from "../jobs/capture-payment.ts";
import { issueInvoicePayload } from "../jobs/issue-invoice.ts";
import { paymentWebhookPayload } from "../jobs/payment-webhook.ts";
import { type SampleJob, sampleJobs } from "../sample-jobs.ts";

type SampleType = "invoice.issue" | "payment.capture" | "payment.webhook";

const schemas: Readonly<Record<SampleType, z.ZodType>> = {
  "invoice.issue": issueInvoicePayload,
  "payment.capture": capturePaymentPayload,
  "payment.webhook": paymentWebhookPayload,
};

function ofType(jobs: readonly SampleJob[], type: SampleType) {
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
    const paying = [...ofType(jobs, "payment.webhook"), ...ofType(jobs, "payment.capture")];
    expect(paying).toHaveLength(Math.floor(count / 2));
  });

  test("makes payloads that their jobs take and amounts that are the invoices'", async () => {
    const jobs = sampleJobs({ count: 400, seed: 3 });
    const totals = new Map<string, number>();
    for (const { jobId, payload } of ofType(jobs, "invoice.issue")) {
      const { lines } = issueInvoicePayload.parse(payload);
      totals.set(jobId, computeTotals(lines).totalMinor);
    }

    for (const { type, payload } of jobs) {
      const check = await checkPayload(schemas[type as SampleType], payload);
      expect(check).toMatchObject({ kind: "ok" });
    }
    for (const { payload } of ofType(jobs, "payment.webhook")) {
      const { invoiceId, amountMinor } = paymentWebhookPayload.parse(payload);
      expect(amountMinor).toBe(totals.get(invoiceId));
    }
  });

  test("charges about half of the invoices, each as the job that charging it makes", () => {
    const jobs = sampleJobs({ count: 400, seed: 3 });
    const captures = ofType(jobs, "payment.capture");
    const invoices = new Map(
      ofType(jobs, "invoice.issue").map((job) => [
        job.jobId,
        issueInvoicePayload.parse(job.payload),
      ]),
    );

    expect(captures.length).toBeGreaterThan(60);
    expect(captures.length).toBeLessThanOrEqual(100);
    for (const { jobId, payload } of captures) {
      const { invoiceId, version } = capturePaymentPayload.parse(payload);
      expect(jobId).toBe(`capture-${invoiceId}-1`);
      expect(version).toBe(1);
      expect(invoices.get(invoiceId)?.currency).not.toBe("KWD");
    }
    const reported = ofType(jobs, "payment.webhook").map(({ jobId }) => jobId);
    expect(
      captures.some(({ payload }) =>
        reported.includes(`evt_${capturePaymentPayload.parse(payload).invoiceId}`),
      ),
    ).toBe(false);
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
