import { NotSentError, RejectedError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { chargeEffect } from "../payment/charge-effect.ts";
import type { PaymentProvider } from "../payment/payment-provider.ts";
import type { SandboxFault } from "../payment/payment-sandbox.ts";
import { startPaymentSite } from "./payment-site.ts";
import { issued } from "./sample-invoice.ts";

const first = { key: "key-1", signal: new AbortController().signal, epoch: 1, attempt: 1 };
const second = { ...first, epoch: 2, attempt: 2 };
const DAY_MS = 24 * 60 * 60 * 1000;

function charge(paymentMethod = "pm_card_visa") {
  const invoice = { ...issued(), version: 1 };
  return { invoice, means: { paymentMethod }, jobCreatedAtMs: Date.UTC(2026, 0, 1) };
}

async function setup(fault?: SandboxFault) {
  const site = await startPaymentSite(
    fault === undefined ? {} : { faults: [{ fault, request: 1 }] },
  );
  const alarms: (readonly string[])[] = [];
  const parts = { provider: site.provider, alarm: (ids: readonly string[]) => alarms.push(ids) };
  return { ...site, parts, alarms };
}

function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error("did not throw")),
    (error: unknown) => error,
  );
}

/** The lookup of an effect whose policy is `query`. */
function lookupOf(effect: ReturnType<typeof chargeEffect>) {
  if (effect.recover.kind !== "query") throw new Error("is no query");
  return effect.recover.lookup;
}

describe("chargeEffect", () => {
  test("keeps what is booked, and names the payment", async () => {
    const { parts } = await setup();
    const effect = chargeEffect(parts, charge());

    const charged = await effect.run(first);

    expect(effect.pick?.(charged)).toEqual({
      paymentId: charged.paymentId,
      amountMinor: 43_576,
      currency: "EUR",
      chargedAtMs: Date.UTC(2026, 0, 1),
      method: "Visa ending 4242",
    });
    expect(effect.reference?.(charged)).toBe(charged.paymentId);
    expect(effect).toMatchObject({ timeoutMs: 25_000, tombstone: true });
  });

  test("throws a refusal as final, with the provider's word", async () => {
    const { parts } = await setup();
    const effect = chargeEffect(parts, charge("pm_card_visa_chargeDeclinedInsufficientFunds"));

    const thrown = await thrownBy(effect.run(first));

    expect(thrown).toBeInstanceOf(RejectedError);
    expect(thrown).toMatchObject({ reason: "insufficient_funds", refusedKey: false });
  });

  test("throws what moved nothing as not sent, with the wait that the provider asks for", async () => {
    const { parts } = await setup({ kind: "rate-limit", retryAfterSeconds: 7 });

    const thrown = (await thrownBy(chargeEffect(parts, charge()).run(first))) as Error;

    expect(thrown).toBeInstanceOf(NotSentError);
    expect(thrown).toMatchObject({ retryAfterMs: 7_000 });
  });

  test.each([
    { kind: "reset", when: "before" },
    { kind: "server-error", when: "before" },
    { kind: "server-error", when: "stored" },
  ] as const)("calls %j an outage of the provider", async (fault) => {
    const { parts } = await setup(fault);
    const effect = chargeEffect(parts, charge());

    expect(effect.isOutage?.(await thrownBy(effect.run(first)))).toBe(true);
  });

  test("calls a refusal no outage", async () => {
    const { parts } = await setup();
    const effect = chargeEffect(parts, charge("pm_card_visa_chargeDeclinedInsufficientFunds"));

    expect(effect.isOutage?.(await thrownBy(effect.run(first)))).toBe(false);
  });

  test.each([
    { kind: "reset", when: "before" },
    { kind: "reset", when: "after" },
    { kind: "server-error", when: "before" },
    { kind: "server-error", when: "stored" },
  ] as const)("throws %j as neither, so that it is unknown", async (fault) => {
    const { parts } = await setup(fault);

    const thrown = await thrownBy(chargeEffect(parts, charge()).run(first));

    expect(thrown).not.toBeInstanceOf(NotSentError);
    expect(thrown).not.toBeInstanceOf(RejectedError);
    expect(thrown).toMatchObject({ message: /^the outcome of the charge is unknown: / });
  });

  test("replays for less than the provider keeps a key, then leaves it to an operator", async () => {
    const { parts } = await setup();

    expect(chargeEffect(parts, charge()).recover).toEqual({
      kind: "replay",
      windowMs: 82_800_000,
      after: { kind: "park" },
    });
    expect(chargeEffect(parts, charge(), "park").recover).toEqual({ kind: "park" });
  });
});

describe("the charge's lookup", () => {
  test("finds what a lost answer has done", async () => {
    const { parts } = await setup({ kind: "reset", when: "after" });
    const effect = chargeEffect(parts, charge(), "query");
    await thrownBy(effect.run(first));

    expect(await lookupOf(effect)(second)).toMatchObject({
      kind: "applied",
      result: { kind: "charged", amountMinor: 43_576 },
    });
  });

  test.each(["pm_card_visa", "pm_card_chargeDeclined"])(
    "tells that nothing moved with %s",
    async (paymentMethod) => {
      const { parts } = await setup({ kind: "reset", when: "before" });
      const effect = chargeEffect(parts, charge(paymentMethod), "query");
      await thrownBy(effect.run(first));
      if (paymentMethod !== "pm_card_visa") await thrownBy(effect.run(second));

      expect(await lookupOf(effect)(second)).toEqual({ kind: "absent" });
    },
  );

  test("throws when the books do not tell, so that nothing is sent again", async () => {
    const { parts, sandbox } = await setup();
    await sandbox.close();

    const thrown = await thrownBy(lookupOf(chargeEffect(parts, charge(), "query"))(second));

    expect(thrown).toMatchObject({
      message: "the provider's books do not tell: StripeConnectionError",
    });
  });

  test("raises the alarm for money that was taken once too often", async () => {
    const { parts, alarms, clock, sandbox } = await setup();
    const effect = chargeEffect(parts, charge(), "query");
    await effect.run(first);
    expect(alarms).toEqual([]);
    await clock.advance(DAY_MS);
    await effect.run(second);

    await lookupOf(effect)(second);

    expect(alarms).toEqual([[sandbox.charges[1]?.paymentId]]);
  });

  test("ends within the effect's time limit", async () => {
    const { parts } = await setup();
    let askedMs = 0;
    const provider: PaymentProvider = {
      charge: parts.provider.charge,
      find: async ({ timeoutMs }) => {
        askedMs = timeoutMs;
        return { kind: "absent" };
      },
    };
    const effect = chargeEffect({ ...parts, provider }, charge(), "query");

    await lookupOf(effect)(second);

    expect(askedMs).toBeLessThanOrEqual(effect.timeoutMs);
  });
});
