/** A local payment provider on a clock that tests move, the real SDK before it, and sandboxes to close. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@leasehold/clock/manual";
import Stripe from "stripe";
import { onTestFinished } from "vitest";
import type { ChargeRequest, FindRequest } from "../payment/payment-provider.ts";
import {
  type HeardRequest,
  type PaymentSandbox,
  type PaymentSandboxOptions,
  startPaymentSandbox,
} from "../payment/payment-sandbox.ts";
import { StripePaymentProvider } from "../payment/stripe-payment-provider.ts";

export const SECRET_KEY = "sk_test_local";

export const chargeOfInvoice: ChargeRequest = {
  key: "key-1",
  tenantId: "nordlicht",
  invoiceId: "INV-7",
  invoiceVersion: 1,
  amountMinor: 43_576,
  currency: "EUR",
  paymentMethod: "pm_card_visa",
  isFirstAttempt: true,
  timeoutMs: 10_000,
  signal: new AbortController().signal,
};

/** The question about that charge. */
export const sameCharge: FindRequest = {
  key: "key-1",
  sinceAtMs: Date.UTC(2025, 11, 31),
  timeoutMs: 10_000,
  signal: chargeOfInvoice.signal,
};

export interface PaymentSite {
  readonly clock: ManualClock;
  readonly sandbox: PaymentSandbox;
  readonly provider: StripePaymentProvider;
  /** The SDK as it comes, without retries. */
  readonly stripe: Stripe;
  readonly file: string;
  readonly heard: readonly HeardRequest[];
  /** Resolves once that many requests have arrived in all. */
  heardAtLeast(count: number): Promise<void>;
  /** What the provider says when asked by HTTP. */
  chargeCount(invoiceId?: string): Promise<number>;
}

export function temporaryFile(): string {
  return join(mkdtempSync(join(tmpdir(), "payment-sandbox-")), "charges.ndjson");
}

export function providerAt(endpoint: string, clock: ManualClock): StripePaymentProvider {
  return new StripePaymentProvider({ secretKey: SECRET_KEY, endpoint }, clock);
}

export function plainStripe(endpoint: string, secretKey: string = SECRET_KEY): Stripe {
  const { hostname: host, port } = new URL(endpoint);
  const address = { host, port, protocol: "http", maxNetworkRetries: 0 } as const;
  return new Stripe(secretKey, { ...address, telemetry: false });
}

/** The sandbox closes by itself when the test is over. */
export async function startPaymentSite(
  options: Partial<PaymentSandboxOptions> = {},
): Promise<PaymentSite> {
  const clock = new ManualClock();
  const file = options.file ?? temporaryFile();
  const heard: HeardRequest[] = [];
  let wake = () => {};
  const onRequest = (request: HeardRequest) => {
    heard.push(request);
    wake();
  };
  const sandbox = await startPaymentSandbox({ clock, file, onRequest, ...options });
  onTestFinished(() => sandbox.close());
  const heardAtLeast = async (count: number) => {
    while (heard.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    ...{ clock, sandbox, file, heard, heardAtLeast },
    provider: providerAt(sandbox.endpoint, clock),
    stripe: plainStripe(sandbox.endpoint),
    async chargeCount(invoiceId = "INV-7") {
      const answer = await fetch(`${sandbox.endpoint}/_leasehold/charges?invoice=${invoiceId}`);
      return ((await answer.json()) as { readonly count: number }).count;
    },
  };
}
