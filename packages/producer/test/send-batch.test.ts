import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { batchLength, type Packable } from "../send-batch.ts";

/** Batch after batch, as the buffer takes them. */
function packBatches(entries: readonly Packable[], onePerGroup: boolean): Packable[][] {
  const batches: Packable[][] = [];
  for (let left = [...entries]; left.length > 0; ) {
    batches.push(left.splice(0, batchLength(left, onePerGroup)));
  }
  return batches;
}

const entry = (bytes: number, groupId = "acme") => ({ bytes, groupId });
const sizes = (batches: ReturnType<typeof packBatches>) =>
  batches.map((batch) => batch.map(({ bytes }) => bytes));

describe("batchLength", () => {
  test("packs nothing into nothing", () => {
    expect(packBatches([], false)).toEqual([]);
  });

  test("packs ten to a batch", () => {
    const batches = packBatches(Array(23).fill(entry(1)), false);

    expect(batches.map((batch) => batch.length)).toEqual([10, 10, 3]);
  });

  test("fills a batch to exactly 1 MiB, and not one byte more", () => {
    expect(sizes(packBatches([entry(1_048_575), entry(1), entry(1)], false))).toEqual([
      [1_048_575, 1],
      [1],
    ]);
    expect(sizes(packBatches([entry(1_048_576), entry(1_048_576)], false))).toEqual([
      [1_048_576],
      [1_048_576],
    ]);
  });

  test("lets a successor of the same group wait for the next batch when told so", () => {
    const [a1, a2, b1, b2] = [entry(1, "a"), entry(2, "a"), entry(3, "b"), entry(4, "b")];

    expect(packBatches([a1, a2, b1, b2], true)).toEqual([[a1], [a2, b1], [b2]]);
    expect(packBatches([a1, a2, b1, b2], false)).toEqual([[a1, a2, b1, b2]]);
  });

  test("keeps order and limits, and never closes a batch that had room", () => {
    const entries = fc.array(
      fc.record({
        bytes: fc.oneof(fc.integer({ min: 1, max: 1_048_576 }), fc.integer({ min: 1, max: 2_000 })),
        groupId: fc.constantFrom("a", "b", "c"),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(entries, fc.boolean(), (all, onePerGroup) => {
        const batches = packBatches(all, onePerGroup);
        const sum = (batch: (typeof batches)[number]) =>
          batch.reduce((total, { bytes }) => total + bytes, 0);

        expect(batches.flat()).toEqual(all);
        for (const [index, batch] of batches.entries()) {
          const groups = batch.map(({ groupId }) => groupId);
          const next = batches[index + 1]?.[0];
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(10);
          expect(sum(batch)).toBeLessThanOrEqual(1_048_576);
          if (onePerGroup) expect(new Set(groups).size).toBe(groups.length);
          if (next === undefined) continue;
          const hadRoom =
            batch.length < 10 &&
            sum(batch) + next.bytes <= 1_048_576 &&
            !(onePerGroup && groups.includes(next.groupId));
          expect(hadRoom).toBe(false);
        }
      }),
    );
  });
});
