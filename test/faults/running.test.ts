import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cellsOf, playCell, stormsOf } from "./fault-matrix.ts";
import { brokenPromises } from "./fault-verdict.ts";

const isFull = process.env["FAULTS"] === "full";

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);
beforeAll(() => void process.on("unhandledRejection", onRejection));
afterAll(() => void process.off("unhandledRejection", onRejection));

describe("a running worker keeps its promises under", () => {
  test.each([...cellsOf("running", isFull), ...stormsOf("running", isFull)])(
    "%s",
    async (_name, cell) => {
      const { record, faultsMet } = await playCell(cell);
      const broken = brokenPromises(record);
      expect(broken, broken.join("; ")).toEqual([]);
      expect(faultsMet).toBeGreaterThan(0);
      expect(rejections).toEqual([]);
    },
  );
});
