import type { AnyJobDefinition } from "@leasehold/job";
import { type JobLambdaContext, jobEnvelope, lambdaHandler, middyHandler } from "@leasehold/middy";
import middy from "@middy/core";
import { openLambdaService } from "leasehold";
import { expect, onTestFinished, test } from "vitest";
import { billingWorker } from "../billing-worker.ts";
import { readConfig } from "../config.ts";
import { captureJob } from "../jobs/capture-payment.ts";
import { type BillingHome, type Effects, type JobToDo, openBillingHome } from "./billing-home.ts";
import { draft, payment } from "./sample-invoice.ts";

const visa = { paymentMethod: "pm_card_visa" };
const declined = { paymentMethod: "pm_card_chargeDeclinedInsufficientFunds" };

function issue(invoiceId: string): JobToDo {
  return { type: "invoice.issue", jobId: invoiceId, payload: { ...draft, invoiceId } };
}

function capture(invoiceId: string, means: typeof visa): JobToDo {
  const { type, jobId, payload } = captureJob({ invoiceId, version: 1 }, means);
  return { type, jobId, payload };
}

const webhook: JobToDo = {
  type: "payment.webhook",
  jobId: "evt_1",
  payload: { ...payment, invoiceId: "INV-8" },
};

/** Everything twice, as producers and queues do it, some of it before what it depends on. */
const jobs: readonly JobToDo[] = [
  ...[capture("INV-7", visa), issue("INV-7"), issue("INV-8"), issue("INV-9")],
  ...[capture("INV-7", visa), webhook, capture("INV-9", declined)],
  ...[issue("INV-7"), webhook],
  { type: "invoice.issue", jobId: "INV-0", payload: { invoiceId: "INV-0" } },
];

function plain(job: AnyJobDefinition): AnyJobDefinition {
  return job;
}

function wrapped(job: AnyJobDefinition): AnyJobDefinition {
  const handler = middy()
    .use(jobEnvelope(job.schema))
    .handler(async (event, context) => {
      return await job.handler(event, (context as unknown as JobLambdaContext).job);
    });
  return { ...job, handler: middyHandler(handler) };
}

async function wrappedInLambda(home: BillingHome): Promise<void> {
  const parts = await billingWorker(readConfig());
  const service = await openLambdaService(parts);
  onTestFinished(async () => {
    service.close();
    await parts.dispose?.();
  });
  await home.invokeIt(lambdaHandler(parts.jobs.map(wrapped), service.wiring));
}

const homes: readonly (readonly [string, (home: BillingHome) => Promise<void>])[] = [
  ["in a worker, plain", (home) => home.workIt(plain)],
  ["in a worker, middy-wrapped", (home) => home.workIt(wrapped)],
  ["in Lambda, plain", async (home) => home.invokeIt((await import("../lambda.ts")).handler)],
  ["in Lambda, middy-wrapped", wrappedInLambda],
];

/** Of the home that came first; all others must leave the same. */
let first: Effects | undefined;

test.each(homes)(
  "the billing jobs have the same effects in each home: %s",
  async (_, work) => {
    const home = await openBillingHome();
    await home.send(jobs);
    await work(home);
    const effects = await home.effects(["INV-7", "INV-8", "INV-9"]);
    expect(effects).toEqual({
      invoices: [
        "INV-7 v2 paid by Visa ending 4242",
        "INV-8 v2 paid by Visa ending 4242",
        "INV-9 v1",
      ],
      charges: ["INV-7 43576"],
      receipts: [
        expect.stringMatching(/^[0-9a-f]{64}$/),
        expect.stringMatching(/^[0-9a-f]{64}$/),
        "none",
      ],
      deadLetters: ["INV-0 malformed", "capture-INV-9-1 permanent"],
    });
    first ??= effects;
    expect(effects).toEqual(first);
  },
  60_000,
);
