import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PriorityHeap } from "../priority-heap.ts";

const step = fc.record({
  kind: fc.constantFrom("put", "put", "rekey", "remove", "take"),
  pick: fc.nat({ max: 30 }),
  key: fc.nat({ max: 20 }),
});

describe("a priority heap, over every history", () => {
  test("has the first of its items at hand, whatever was moved or removed", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const heap = new PriorityHeap<{ key: number }>((a, b) => a.key < b.key);
        const model: { key: number }[] = [];
        for (const { kind, pick, key } of steps) {
          const chosen = model[pick % Math.max(1, model.length)];
          const item = kind === "put" ? { key } : kind === "take" ? heap.peek() : chosen;
          if (item === undefined) continue;
          if (kind === "put") model.push(item);
          if (kind === "rekey") item.key = key;
          if (kind === "put" || kind === "rekey") heap.put(item);
          else {
            heap.remove(item);
            model.splice(model.indexOf(item), 1);
          }
          expect(heap.size).toBe(model.length);
          expect(heap.peek()?.key).toBe(model.map((each) => each.key).sort((a, b) => a - b)[0]);
        }
      }),
    );
  });
});
