import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { billingWorker } from "../billing-worker.ts";
import { readConfig } from "../config.ts";

/** The ledger that the service is given, and the folder that receipts and more may go to. */
async function setup(environment: (folder: string) => Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-billing-"));
  const parts = await billingWorker(
    readConfig({
      ...{ AWS_REGION: "eu-central-1", STRIPE_SECRET_KEY: "sk_test_1" },
      ...{ BILLING_RECEIPTS_DIR: join(folder, "receipts"), ...environment(folder) },
    }),
  );
  onTestFinished(async () => {
    await parts.dispose?.();
    await rm(folder, { recursive: true });
  });
  const { ledger } = parts;
  if (typeof ledger !== "object" || ledger.kind !== "dynamodb") throw new Error("no such ledger");
  return { folder, ledger };
}

describe("the billing worker's ledger", () => {
  test("keeps what is too big for a record in the folder that it is given", async () => {
    const { folder, ledger } = await setup((at) => ({ BILLING_LEDGER_DIR: join(at, "kept") }));

    await ledger.results?.put("ledger/0a", '{"id":"ch_1"}');

    expect(await readFile(join(folder, "kept/ledger/0a"), "utf8")).toBe('{"id":"ch_1"}');
  });

  test("knows when its table was restored, and has no folder unless told", async () => {
    const { ledger } = await setup(() => ({ BILLING_LEDGER_RESTORED_AT: "2026-01-31T09:30:00Z" }));

    expect(ledger.options).toEqual({ restoredAtMs: Date.UTC(2026, 0, 31, 9, 30) });
    expect(ledger.results).toBeUndefined();
  });
});
