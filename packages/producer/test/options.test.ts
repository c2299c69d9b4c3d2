import { describe, expect, test } from "vitest";
import { resolveProducerOptions } from "../options.ts";

const STANDARD = "https://sqs.example/1/jobs";
const FIFO = "https://sqs.example/1/jobs.fifo";

describe("resolveProducerOptions", () => {
  test("has defaults for a standard queue", () => {
    expect(resolveProducerOptions(undefined, STANDARD)).toEqual({
      fifo: false,
      maxAttempts: 5,
      backoffBaseMs: 100,
      backoffCapMs: 5_000,
      requestTimeoutMs: 10_000,
      parallelCalls: 4,
      lingerMs: 0,
      maxBuffered: 10_000,
      maxBufferedBytes: 67_108_864,
      whenFull: "wait",
    });
  });

  test("knows a FIFO queue by its name, and sends to it call by call", () => {
    expect(resolveProducerOptions({}, FIFO)).toMatchObject({ fifo: true, parallelCalls: 1 });
    expect(() => resolveProducerOptions({ parallelCalls: 2 }, FIFO)).toThrow("must be 1 on a FIFO");
  });

  test("names every problem", () => {
    const given = { maxAttempts: 0, requestTimeoutMs: 1, retries: 3 } as object;

    expect(() => resolveProducerOptions(given, STANDARD)).toThrow(
      /retries is not a producer option.*maxAttempts must be.*requestTimeoutMs must be/,
    );
  });

  test("refuses a base above the cap", () => {
    expect(() =>
      resolveProducerOptions({ backoffBaseMs: 200, backoffCapMs: 100 }, STANDARD),
    ).toThrow("backoffBaseMs (200) must not exceed backoffCapMs (100)");
  });
});
