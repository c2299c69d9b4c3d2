import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { target } from "../billing-target.ts";
import { readConfig } from "../config.ts";

const session = {
  folder: "/tmp/session",
  receiptsFolder: "/tmp/receipts",
  adminPort: 0,
  logLevel: "debug",
} as const;

describe("target", () => {
  test("makes an environment that the worker takes, with the contract that it promised", () => {
    const environment = target.environment({ ...session, preset: "k8s-120", renderMs: 900 });

    const others = { AWS_REGION: "us-east-1", STRIPE_SECRET_KEY: "sk_test_1" };
    const config = readConfig({ ...environment, ...others });

    expect(config).toMatchObject({
      ledgerFolder: "/tmp/session/ledger-kept",
      receiptsFolder: "/tmp/receipts",
      renderAtLeastMs: 900,
      renderThreads: 8,
      logLevel: "debug",
    });
    expect(config.contract).toEqual(target.contract("k8s-120"));
  });

  test("has short waits unless told otherwise", () => {
    const environment = target.environment(session);

    expect(environment["BILLING_PRESET"]).toBe("drill");
    expect(target.contract().preset).toBe("drill");
  });

  test("starts a payment provider that the worker finds, and keeps its charges in the folder", async () => {
    const folder = await mkdtemp(join(tmpdir(), "leasehold-test-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const companion = await target.startCompanion({ folder });
    onTestFinished(() => companion.close());

    const environment = { ...target.environment(session), ...companion.environment };
    const { payments } = readConfig({ ...environment, AWS_REGION: "us-east-1" });

    expect(payments).toEqual({ secretKey: "sk_test_local", endpoint: companion.endpoint });
    const answer = await fetch(`${companion.endpoint}/_leasehold/charges`);
    expect(await answer.json()).toEqual({ count: 0, charges: [] });
    expect(await readdir(folder)).toEqual(["payments.jsonl", "payments.jsonl.lock"]);
  });

  test("names a program that is there", () => {
    expect(existsSync(target.command[0])).toBe(true);
  });
});
