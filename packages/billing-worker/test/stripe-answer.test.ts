import { describe, expect, test } from "vitest";
import { chargeOf, failedCharge, type StripeFailure } from "../payment/stripe-answer.ts";

const call = { mayHaveSent: true, isFirstAttempt: true };
const replayed = { "idempotent-replayed": "true" };

function failure(fields: Partial<StripeFailure>): StripeFailure {
  return { type: "StripeError", message: "no", ...fields };
}

describe("failedCharge", () => {
  test.each([
    ["a card that was declined", { statusCode: 402, code: "card_declined" }, "rejected"],
    ["wrong parameters", { statusCode: 400, code: "parameter_missing" }, "rejected"],
    ["a key with other parameters", { statusCode: 400, rawType: "idempotency_error" }, "unknown"],
    ["a key in use", { statusCode: 409, code: "idempotency_key_in_use" }, "unknown"],
    ["a wrong key of the account", { statusCode: 401 }, "not-applied"],
    ["a right that is missing", { statusCode: 403 }, "not-applied"],
    ["a rate limit", { statusCode: 429, code: "rate_limit" }, "not-applied"],
    ["a lock within the endpoint", { statusCode: 429, code: "lock_timeout" }, "unknown"],
    ["a failed dependency", { statusCode: 424 }, "unknown"],
    ["an error of Stripe's", { statusCode: 500 }, "unknown"],
    ["an overloaded gateway", { statusCode: 503 }, "unknown"],
    ["a status that nobody knows", { statusCode: 418 }, "unknown"],
    ["an answer that is no JSON", { type: "StripeAPIError" }, "unknown"],
    ["a lost connection", { type: "StripeConnectionError" }, "unknown"],
  ] as const)("takes %s for %j: %s", (_, fields, kind) => {
    expect(failedCharge(failure(fields), call).kind).toBe(kind);
  });

  test("takes a connection that never was for unsent, and no other failure", () => {
    const noConnection = { ...call, mayHaveSent: false };
    const failed = (type: string) => failedCharge(failure({ type }), noConnection).kind;

    expect(failed("StripeConnectionError")).toBe("not-applied");
    expect(failed("StripeAPIError")).toBe("unknown");
  });

  test.each([
    [true, {}, "rejected"],
    [false, {}, "unknown"],
    [false, replayed, "rejected"],
  ])("refused parameters (first attempt %s, headers %j) are %s", (isFirst, headers, kind) => {
    const refused = failure({ statusCode: 400, code: "parameter_missing", headers });

    expect(failedCharge(refused, { ...call, isFirstAttempt: isFirst }).kind).toBe(kind);
  });

  test.each([
    [{}, false],
    [replayed, true],
    [{ "stripe-should-retry": "false" }, true],
    [{ "stripe-should-retry": "true" }, false],
  ])("a 500 with the headers %j is stored: %s", (headers, isStored) => {
    expect(failedCharge(failure({ statusCode: 500, headers }), call)).toMatchObject({ isStored });
  });

  test.each([
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }, undefined],
    [
      {
        "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT",
        date: "Wed, 21 Oct 2026 07:27:30 GMT",
      },
      30_000,
    ],
    [{}, undefined],
  ])("a rate limit with the headers %j waits %s ms", (headers, retryAfterMs) => {
    const answer = failedCharge(failure({ statusCode: 429, headers }), call);

    expect(answer).toEqual({
      kind: "not-applied",
      why: "rate-limited",
      problem: "Stripe's rate limit is reached",
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  });
});

describe("chargeOf", () => {
  const intent = { id: "pi_1", amount_received: 5, currency: "jpy", created: 1, status: "" };

  test.each([
    ["succeeded", undefined, "charged"],
    ["processing", undefined, "unknown"],
    ["requires_action", undefined, "unknown"],
    ["requires_capture", undefined, "unknown"],
    ["requires_payment_method", undefined, "unknown"],
    ["requires_payment_method", { code: "card_declined" }, "rejected"],
    ["canceled", undefined, "rejected"],
  ])("takes %s with the error %j for %s", (status, error, kind) => {
    const found = { ...intent, status, last_payment_error: error ?? null };

    expect(chargeOf(found, false).kind).toBe(kind);
  });

  test.each([
    [{ type: "card", card: { brand: "amex", last4: "8431" } }, "American Express ending 8431"],
    [{ type: "card", card: { brand: "new", last4: "1" } }, "Card ending 1"],
    [{ type: "link" }, "Card"],
    ["pm_1", "Card"],
    [null, "Card"],
  ])("prints the method %j as %s", (payment_method, method) => {
    const found = { ...intent, status: "succeeded", payment_method };

    expect(chargeOf(found, false)).toMatchObject({ method, currency: "JPY", amountMinor: 5 });
  });
});
