import { describe, expect, test } from "vitest";
import { isOutage, RejectedError } from "../index.ts";

describe("an outage", () => {
  test.each([
    ["a refused connection", Object.assign(new Error("connect"), { code: "ECONNREFUSED" })],
    [
      "undici's fetch failure",
      new TypeError("fetch failed", {
        cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
      }),
    ],
    ["an answer of 503 as Stripe's SDK tells it", { type: "StripeAPIError", statusCode: 503 }],
    ["an answer of 500 as the AWS SDK tells it", { $metadata: { httpStatusCode: 500 } }],
    ["an answer of 502 as axios tells it", { name: "AxiosError", response: { status: 502 } }],
    ["a lost connection of Stripe's SDK", { type: "StripeConnectionError" }],
    ["a time limit of the AWS SDK", { name: "TimeoutError" }],
    ["a time limit of the effect's own", { code: "EFFECT_TIMEOUT" }],
  ])("is %s", (_, thrown) => {
    expect(isOutage(thrown)).toBe(true);
    expect(isOutage(new Error("the outcome is unknown", { cause: thrown }))).toBe(true);
  });

  test.each([
    ["a bug", new TypeError("cannot read properties of undefined")],
    ["a refusal", new RejectedError("card_declined")],
    ["a request that the provider calls wrong", { statusCode: 400 }],
    ["a limit of its rate", { statusCode: 429 }],
    ["nothing", undefined],
    ["a word", "ECONNREFUSED"],
  ])("is not %s", (_, thrown) => {
    expect(isOutage(thrown)).toBe(false);
  });

  test("is looked for in a chain of causes that ends nowhere", () => {
    const error = new Error("circle");
    error.cause = error;
    expect(isOutage(error)).toBe(false);
  });
});
