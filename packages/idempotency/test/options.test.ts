import { describe, expect, test } from "vitest";
import { createLedger, MemoryLedgerStore } from "../index.ts";
import { resolveLedgerOptions } from "../options.ts";

const DAY = 86_400_000;

describe("the options of a ledger", () => {
  test("have defaults that fit each other", () => {
    expect(resolveLedgerOptions()).toMatchObject({
      ...{ retentionMs: 35 * DAY, expirySlackMs: DAY, restoredAtMs: 0 },
      ...{ ledgerSkewMs: 5_000, settleMs: 60_000, inlineBytes: 4_096 },
    });
    expect(resolveLedgerOptions({ retentionMs: DAY }).expirySlackMs).toBe(DAY / 2);
  });

  test("are refused when the slack leaves nothing of the retention", () => {
    expect(() => resolveLedgerOptions({ retentionMs: DAY, expirySlackMs: DAY })).toThrow(
      "expirySlackMs (86400000) must be below retentionMs (86400000)",
    );
  });

  test("are refused when one is misspelt or out of range, all at once", () => {
    const clock = { monotonicMs: () => 0, wallMs: () => 0 } as never;
    const args = { store: new MemoryLedgerStore(), clock, environment: "test", workerId: "w" };
    const options = { setleMs: 1, ledgerSkewMs: -1 } as never;
    expect(() => createLedger({ ...args, options })).toThrow(
      /setleMs is not.*ledgerSkewMs must be/,
    );
  });
});
