import { afterEach, describe, expect, test } from "vitest";
import { renderReceipt } from "../receipt/receipt-pdf.ts";
import { type RenderPool, startRenderPool } from "../receipt/render-pool.ts";
import { paid } from "./sample-invoice.ts";

const HOUR_MS = 3_600_000;
const pools: RenderPool[] = [];

function setup(atLeastMs = 0) {
  const pool = startRenderPool({ threads: 1, atLeastMs });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool[Symbol.asyncDispose]();
});

describe("startRenderPool", () => {
  test("renders in a thread what the main thread would render", async () => {
    const pdf = await setup().render(paid(), new AbortController().signal);

    expect(Buffer.compare(pdf, await renderReceipt(paid()))).toBe(0);
  });

  test("ends a running render and a waiting one at once, with the reason of the signal", async () => {
    const pool = setup(HOUR_MS);
    const job = new AbortController();
    const renders = [pool.render(paid(), job.signal), pool.render(paid(), job.signal)];
    const settled = Promise.allSettled(renders);

    const reason = new Error("drain deadline");
    job.abort(reason);

    expect(await settled).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
  });

  test("starts nothing for a signal that has aborted already", async () => {
    const reason = new Error("lease lost");

    await expect(setup().render(paid(), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test("renders again after a thread was ended", async () => {
    const pool = setup();
    const job = new AbortController();
    const aborted = pool.render(paid(), job.signal);
    job.abort(new Error("stop"));
    await expect(aborted).rejects.toThrow("stop");

    const pdf = await pool.render(paid(), new AbortController().signal);

    expect(pdf.length).toBeGreaterThan(1_000);
  });
});
