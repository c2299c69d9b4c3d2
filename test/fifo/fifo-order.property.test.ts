import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fifoHistories } from "./fifo-history.ts";
import { KINDS, type Kind } from "./fifo-record.ts";
import { FifoTrial } from "./fifo-trial.ts";

/** More of them, at another seed, where there is time. */
const { FIFO_HISTORIES: count = "300", FIFO_SEED: seed } = process.env;
const numRuns = Number(count);

describe(`${numRuns} histories of FIFO groups with two workers`, () => {
  test(
    "keep the order, settle every message, and dead-letter none that has not run",
    async () => {
      const reached = new Map<Kind, number>(KINDS.map((kind) => [kind, 0]));
      const property = fc.asyncProperty(fifoHistories, async (history) => {
        const record = await new FifoTrial(history).play();
        for (const kind of record.reached) reached.set(kind, (reached.get(kind) ?? 0) + 1);
        expect(record.faults).toEqual([]);
      });
      await fc.assert(property, { numRuns, ...(seed !== undefined && { seed: Number(seed) }) });
      const rare = [...reached].filter(([, times]) => times < numRuns / 100);
      expect(rare, "kinds that too few histories reach").toEqual([]);
      if (numRuns > 300)
        console.log(`histories that reach each kind: ${JSON.stringify([...reached])}`);
    },
    numRuns * 1_000,
  );
});
