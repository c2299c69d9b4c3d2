/** What a worker says and how it exits when it cannot or must not start. */

import { describe, expect, test } from "vitest";
import { openBillingSite } from "./drill-site.ts";
import { DRILL } from "./promises.ts";

describe.concurrent("a worker that must not start", DRILL, () => {
  test("exits 78 on a contract that contradicts itself, every violation explained", async () => {
    await using site = await openBillingSite();
    const worker = site.startWorker({
      BILLING_CONTRACT_OVERRIDES: JSON.stringify({
        platform: { graceMs: 10_000 },
        lease: { visibilityTimeoutMs: 5_000, extendEveryMs: 4_000 },
      }),
    });
    const { code } = await worker.exited;
    const said = worker.noise.join("\n");
    expect(code).toBe(78);
    for (const rule of ["B1", "B4", "B5"]) expect(said).toContain(rule);
    expect(said).toMatch(/raise|lower|set/i);
    expect(site.begun.filter(({ action }) => action === "ReceiveMessage")).toEqual([]);
  });

  test("exits 78 on an environment that makes no sense, every variable named", async () => {
    await using site = await openBillingSite();
    const worker = site.startWorker({
      BILLING_PRESET: "fargate-12",
      BILLING_RENDER_MS: "soon",
      BILLING_RECIEPTS: "x",
    });
    const { code } = await worker.exited;
    const said = worker.noise.join("\n");
    expect(code).toBe(78);
    for (const name of ["BILLING_PRESET", "BILLING_RENDER_MS", "BILLING_RECIEPTS"])
      expect(said).toContain(name);
  });

  test("exits 0 without a claim when the signal comes before it is ready", async () => {
    await using site = await openBillingSite();
    const worker = site.startWorker({ AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:9" });
    await worker.waitFor("claim.failed");
    worker.signal("SIGTERM");
    expect((await worker.exited).code).toBe(0);
    expect(site.begun.filter(({ action }) => action === "ReceiveMessage")).toEqual([]);
  });
});
