import { assertContract, type PresetName, presets } from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";
import { billingContract } from "../contract.ts";

describe("billingContract", () => {
  test.each(Object.keys(presets) as PresetName[])("holds together on %s", (preset) => {
    expect(() => assertContract(billingContract(preset))).not.toThrow();
  });

  test("takes overrides field by field", () => {
    const contract = billingContract("drill", { shutdown: { drainMs: 60_000 } });

    expect(contract.shutdown).toMatchObject({ drainMs: 60_000, abortMs: 1_000 });
    expect(contract.queues[0]).toMatchObject({
      name: "billing-jobs",
      deadLetter: { name: "billing-jobs-dead" },
    });
    expect(() => assertContract(contract)).toThrow("contradicts itself");
  });
});
