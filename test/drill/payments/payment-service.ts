/** The worker of the kill matrix: charges an invoice once, then has a receipt marked. */

import { appendFileSync } from "node:fs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  chargeEffect,
  type InvoiceCharge,
  StripePaymentProvider,
} from "@leasehold/billing-worker/charge";
import { systemClock } from "@leasehold/clock";
import { type Effect, rerun } from "@leasehold/job";
import { defineJob, runWorkerProcess } from "leasehold";
import { z } from "zod";
import type { Policy } from "./cells.ts";
import { CHARGE, CHARGE_JOB, paymentContract } from "./numbers.ts";

const place = (name: string): string => process.env[name] ?? "";
const policy = place("TRIAL_POLICY") as Policy;
const AMOUNT_MINOR = 4_200;
const party = { name: "Acme", addressLines: ["1 Main Street"] };

const provider = new StripePaymentProvider(
  { secretKey: "sk_test_drill", endpoint: place("TRIAL_PAYMENTS") },
  systemClock,
);
const dynamodb = new DynamoDBClient({
  region: place("AWS_REGION"),
  endpoint: place("AWS_ENDPOINT_URL_DYNAMODB"),
  requestHandler: {
    ...{ connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  },
});

function invoiceOf(tenantId: string, invoiceId: string): InvoiceCharge["invoice"] {
  return {
    ...{ tenantId, invoiceId, version: 1, issuedOn: "2026-01-15", dueOn: "2026-02-14" },
    ...{ currency: "EUR", locale: "en-GB", seller: party, buyer: party, lines: [] },
    ...{ subtotalMinor: AMOUNT_MINOR, taxes: [], taxMinor: 0, totalMinor: AMOUNT_MINOR },
  } as InvoiceCharge["invoice"];
}

/** Marks that this payment has its receipt: the later effect that must run, too. */
function receiptEffect(line: string): Effect<null> {
  return {
    timeoutMs: 1_000,
    recover: rerun(),
    run: async () => {
      appendFileSync(place("TRIAL_RECEIPTS"), `${line}\n`);
      return null;
    },
  };
}

const charge = defineJob({
  type: CHARGE_JOB,
  schema: z.object({ invoiceId: z.string() }),
  guard: place("TRIAL_OPENING") !== "lazy",
  handler: async ({ payload: { invoiceId }, tenantId, createdAtMs }, context) => {
    const alarm = (paymentIds: readonly string[]) =>
      context.log.error("an invoice was charged more than once", {
        ...{ payment_ids: paymentIds.join(" "), alarm: true },
      });
    const effect = chargeEffect(
      { provider, alarm, settleMs: CHARGE.settleMs },
      {
        ...{ invoice: invoiceOf(tenantId, invoiceId), jobCreatedAtMs: createdAtMs },
        ...{ means: { paymentMethod: "pm_card_visa" }, limits: CHARGE.limits },
      },
      policy === "rerun" ? "replay" : policy,
    );
    const recover = policy === "rerun" ? rerun() : effect.recover;
    const { paymentId } = await context.once("charge", { invoiceId }, { ...effect, recover });
    await context.once("receipt", { paymentId }, receiptEffect(`${invoiceId} ${paymentId}`));
  },
});

await runWorkerProcess(() => ({
  contract: paymentContract,
  jobs: [charge],
  sqs: { region: place("AWS_REGION"), endpoint: place("AWS_ENDPOINT_URL_SQS") },
  ledger: { kind: "dynamodb", client: dynamodb, environment: "drill" },
  admin: false,
  log: { level: "debug" },
  dispose: () => dynamodb.destroy(),
}));
