import { ManualClock } from "@leasehold/clock/manual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createUuidV7 } from "../uuid-v7.ts";

function setup(startWallMs?: number) {
  const clock = new ManualClock(startWallMs);
  return { clock, newId: createUuidV7(clock) };
}

describe("createUuidV7", () => {
  test("writes version, variant and time where RFC 9562 has them", () => {
    const { newId } = setup(0x017f_22e2_79b0);

    const id = newId();

    expect(id).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("takes whole milliseconds of a clock that has fractions", () => {
    const { newId } = setup(0x017f_22e2_79b0 + 0.75);

    expect(newId()).toMatch(/^017f22e2-79b0-7/);
  });

  test("goes on into the next millisecond when one is used up", () => {
    const { newId } = setup();
    const ids = Array.from({ length: 5_000 }, newId);

    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(5_000);
    expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(2);
  });

  test("keeps its order whatever the wall clock does", async () => {
    const steps = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (stepsMs) => {
        const { clock, newId } = setup();
        const ids = stepsMs.map((stepMs) => {
          clock.stepWall(stepMs);
          return newId();
        });
        expect([...ids].sort()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test("differs between two producers of the same millisecond", () => {
    const ids = Array.from({ length: 200 }, () => setup().newId());

    expect(new Set(ids).size).toBe(200);
  });
});
