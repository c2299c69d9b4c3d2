/** The matrix of one phase as tests; `FAULTS=full` plays every cell of it. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cellsOf, type FaultPhase, stormsOf } from "./fault-cells.ts";
import { playCell } from "./fault-matrix.ts";
import { missingFaults } from "./fault-proof.ts";
import { brokenPromises } from "./fault-verdict.ts";

/** One test for each cell; none may leave a rejection that nobody handles. */
export function testCells(phase: FaultPhase): void {
  const isFull = process.env["FAULTS"] === "full";
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  beforeAll(() => void process.on("unhandledRejection", onRejection));
  afterAll(() => void process.off("unhandledRejection", onRejection));

  describe(`a ${phase} worker keeps its promises under`, () => {
    test.each([...cellsOf(phase, isFull), ...stormsOf(phase, isFull)])(
      "%s",
      async (_name, cell) => {
        const { record, faulted } = await playCell(cell);
        const broken = [...missingFaults(cell, faulted), ...brokenPromises(record)];
        expect(broken, broken.join("; ")).toEqual([]);
        expect(rejections).toEqual([]);
      },
    );
  });
}
