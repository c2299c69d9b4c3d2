import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { roomFor, type ShareFacts } from "../share-plan.ts";

const BUSY: ShareFacts = {
  weight: 1,
  held: 0,
  served: 0,
  isIdle: false,
  openPolls: 0,
  isWaiting: true,
};
const IDLE: ShareFacts = { ...BUSY, isIdle: true };

/** What each queue may take, by `now/most`. */
function rooms(queues: readonly ShareFacts[], total: number): string[] {
  const free = total - queues.reduce((sum, { held }) => sum + held, 0);
  return queues.map((_, index) => {
    const { now, most } = roomFor(index, queues, { total, free });
    return `${now}/${most}`;
  });
}

describe("the room of a queue", () => {
  test("is all there is when it is alone, idle or not", () => {
    expect(rooms([BUSY], 20)).toEqual(["20/20"]);
    expect(rooms([IDLE], 20)).toEqual(["20/20"]);
  });

  test("is one slot while it is idle; the rest is lent to the busy one", () => {
    expect(rooms([IDLE, BUSY], 20)).toEqual(["1/1", "19/19"]);
  });

  test("leaves the slot of an idle queue whose poll is not open just now", () => {
    expect(rooms([IDLE, { ...BUSY, held: 19 }], 20)).toEqual(["1/1", "0/19"]);
    const polling = { ...IDLE, openPolls: 1, held: 1 };
    expect(rooms([polling, { ...BUSY, held: 18 }], 20)[1]).toBe("1/19");
  });

  test("follows the weights between busy ones", () => {
    expect(rooms([{ ...BUSY, weight: 3 }, BUSY], 20)).toEqual(["15/15", "5/5"]);
  });

  test("is nothing while another goes first for the last slot, by slot time over weight", () => {
    const queues = [
      { ...BUSY, held: 1, served: 9 },
      { ...BUSY, held: 1, served: 8 },
    ];
    expect(rooms(queues, 3)).toEqual(["0/2", "1/2"]);
  });

  test("is what the others do not want when it has its share already", () => {
    const full = { ...BUSY, held: 10 };
    expect(rooms([full, { ...BUSY, held: 4 }], 20)[0]).toBe("0/10");
    expect(rooms([full, { ...BUSY, held: 4, isWaiting: false }], 20)[0]).toBe("6/20");
  });

  test("is never more than is free, and somebody may always go on", () => {
    const queue = fc.record({
      weight: fc.integer({ min: 1, max: 100 }),
      held: fc.integer({ min: 0, max: 6 }),
      served: fc.integer({ min: 0, max: 5 }),
      isIdle: fc.boolean(),
      openPolls: fc.integer({ min: 0, max: 1 }),
      isWaiting: fc.boolean(),
    });
    const wanting = { free: 0, scarce: 0 };
    fc.assert(
      fc.property(
        fc.array(queue, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 0, max: 30 }),
        (queues, extra) => {
          const held = queues.reduce((sum, each) => sum + each.held, 0);
          const total = Math.max(queues.length, held + extra);
          const free = total - held;
          const given = queues.map((_, index) => roomFor(index, queues, { total, free }));
          for (const { now, most } of given) {
            expect(now).toBeGreaterThanOrEqual(0);
            expect(now).toBeLessThanOrEqual(free);
            expect(most).toBeGreaterThanOrEqual(1);
          }
          const owed = queues.filter((each) => each.isIdle && each.openPolls === 0).length;
          const busy = given.filter((_, index) => {
            const { isWaiting = false, isIdle = true } = queues[index] ?? {};
            return isWaiting && !isIdle;
          });
          if (busy.length === 0 || free <= owed) return;
          wanting.free += 1;
          if (busy.some(({ now }) => now === 0)) wanting.scarce += 1;
          expect(busy.some(({ now }) => now > 0)).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(wanting.free).toBeGreaterThan(500);
    expect(wanting.scarce).toBeGreaterThan(50);
  });
});
