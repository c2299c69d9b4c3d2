import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FifoOrder } from "../fifo-order.ts";
import type { DeliveryState, StoredMessage } from "../stored-message.ts";

/** What can happen to a message; `pick` chooses among those to whom it can happen. */
const step = fc.record({
  kind: fc.constantFrom("send", "receive", "release", "delete", "lapse"),
  pick: fc.nat({ max: 50 }),
  group: fc.constantFrom("g", "h", "i"),
  max: fc.integer({ min: 1, max: 4 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Receive {
  readonly served: readonly StoredMessage[];
  /** Every message as it stood before this receive, in the order of sending. */
  readonly before: readonly { message: StoredMessage; state: DeliveryState }[];
}

function messageOf(order: number, groupId: string): StoredMessage {
  return {
    messageId: `m${order}`,
    content: { body: "", attributes: {}, groupId },
    senderId: "",
    sentAtMs: 0,
    order,
    state: "visible",
    visibleAtMs: 0,
    receiveCount: 0,
    receivesHere: 0,
    receipt: 0,
  };
}

/** Plays a history and gives every receive in it. */
function play(steps: readonly Step[]): Receive[] {
  const order = new FifoOrder();
  const live: StoredMessage[] = [];
  const receives: Receive[] = [];
  const move = (message: StoredMessage, state: DeliveryState) => {
    order.leave(message);
    message.state = state;
    order.enter(message);
  };
  steps.forEach(({ kind, pick, group, max }, index) => {
    const held = live.filter(({ state }) => state === "in-flight");
    const chosen = held[pick % Math.max(1, held.length)];
    if (kind === "send") {
      const message = messageOf(index, group);
      live.push(message);
      order.enter(message);
    } else if (kind === "receive") {
      const before = live.map((message) => ({ message, state: message.state }));
      const served: StoredMessage[] = [];
      order.begin();
      for (let next = order.next(); next && served.length < max; next = order.next()) {
        move(next, "in-flight");
        served.push(next);
      }
      receives.push({ served, before });
    } else if (chosen !== undefined && kind === "delete") {
      order.leave(chosen);
      live.splice(live.indexOf(chosen), 1);
    } else if (chosen !== undefined) {
      move(chosen, "visible");
    }
  });
  return receives;
}

const histories = fc.array(step, { maxLength: 60, size: "max" }).map(play);

/** The messages of a group that may be served: from the first on, up to one that is held. */
function servable({ before }: Receive, groupId: string): StoredMessage[] {
  const group = before.filter(({ message }) => message.content.groupId === groupId);
  const end = group.findIndex(({ state }) => state !== "visible");
  return group.slice(0, end === -1 ? group.length : end).map(({ message }) => message);
}

describe("the order of a FIFO queue, over every history", () => {
  test("a receive takes from the front of each group and stops at a held message", () => {
    fc.assert(
      fc.property(histories, (receives) => {
        for (const receive of receives) {
          for (const groupId of ["g", "h", "i"]) {
            const taken = receive.served.filter(({ content }) => content.groupId === groupId);
            expect(servable(receive, groupId).slice(0, taken.length)).toEqual(taken);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a receive that has room left leaves nothing behind that it could have served", () => {
    fc.assert(
      fc.property(histories, (receives) => {
        for (const receive of receives) {
          if (receive.served.length > 0) continue;
          for (const groupId of ["g", "h", "i"]) expect(servable(receive, groupId)).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("the histories reach every case (the generator is not vacuous)", () => {
    const seen = new Set<string>();
    for (const receive of fc.sample(histories, 500).flat()) {
      const { served, before } = receive;
      const groups = new Set(served.map(({ content }) => content.groupId));
      if (served.length === 0) seen.add("nothing served");
      if (groups.size === 1 && served.length > 1) seen.add("several of one group");
      if (groups.size > 1) seen.add("several groups");
      const firstHeld = before.findIndex(({ state }) => state === "in-flight");
      if (firstHeld !== -1 && served.some((m) => before[firstHeld + 1]?.message === m)) {
        seen.add("served beside a held group");
      }
      for (const groupId of ["g", "h", "i"]) {
        const group = before.filter(({ message }) => message.content.groupId === groupId);
        const count = servable(receive, groupId).length;
        const visible = group.filter(({ state }) => state === "visible").length;
        if (count > 0 && count < group.length) seen.add("a group blocked in its middle");
        if (count === 0 && visible > 0) seen.add("a group blocked at its front");
      }
    }
    expect([...seen].sort()).toEqual([
      "a group blocked at its front",
      "a group blocked in its middle",
      "nothing served",
      "served beside a held group",
      "several groups",
      "several of one group",
    ]);
  });
});
