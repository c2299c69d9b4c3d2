import { describe, expect, test } from "vitest";
import { isMade, patched } from "../apply-write.ts";
import { startEffect } from "../effect-writes.ts";
import type { EffectRecord, JobRecord } from "../ledger-record.ts";
import { openNew } from "../opening-writes.ts";
import { cancel } from "../operator-writes.ts";
import { heartbeat, saveCheckpoint } from "../run-writes.ts";
import { job } from "./ledger-setup.ts";

const opening = {
  ...{ job, owner: "w-1:a", leaseUntilMs: 9, messageId: "m-1", receiveCount: 1 },
  ...{ payloadHash: "p", nowMs: 5, expiresAtMs: 1_000 },
};
const effect: EffectRecord = {
  ...{ state: "started", epoch: 1, nonce: "n", attempts: 1, firstSentAtMs: 1, deadlineAtMs: 2 },
  ...{ inputHash: "i", providerKey: "k" },
};
const fence = { job, epoch: 1, owner: "w-1:a" };
const opened = patched(undefined, job, openNew(opening).patch);

describe("isMade", () => {
  test("knows a write by its owner and its nonce, whatever passing fields say since", () => {
    const later: JobRecord = { ...opened, updatedAtMs: 99, leaseUntilMs: 99 };
    expect(isMade(later, openNew(opening))).toBe(true);
    expect(isMade({ ...later, owner: "w-2:b" }, openNew(opening))).toBe(false);
    const start = startEffect(fence, { name: "charge", effect }, { leaseUntilMs: 9, nowMs: 8 });
    expect(isMade(later, start)).toBe(false);
    expect(isMade({ ...later, effects: { charge: effect } }, start)).toBe(true);
    const other = { ...effect, nonce: "n-2" };
    expect(isMade({ ...later, effects: { charge: other } }, start)).toBe(false);
  });

  test("never takes a heartbeat for made, which leaves no mark of its own", () => {
    expect(isMade(opened, heartbeat(fence, { leaseUntilMs: 9, nowMs: 5 }))).toBe(false);
  });

  test("does not take a write for made in a job that was cancelled since", () => {
    const save = saveCheckpoint(fence, "1", { leaseUntilMs: 9, nowMs: 8 });
    const saved = patched(opened, job, save.patch);
    expect(isMade(saved, save)).toBe(true);
    expect(
      isMade(patched(saved, job, cancel(saved, { code: "cancelled", detail: "x" }, 9).patch), save),
    ).toBe(false);
  });

  test("is never so without a record", () => {
    expect(isMade(undefined, openNew(opening))).toBe(false);
  });
});
