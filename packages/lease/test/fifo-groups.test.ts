import { describe, expect, test } from "vitest";
import { FifoGroups, type Place } from "../fifo-groups.ts";

function setup(...messageIds: readonly string[]) {
  const groups = new FifoGroups();
  const places = messageIds.map((messageId) => groups.enter("a", messageId));
  const standings = () => places.map(({ standing }) => standing);
  return { groups, places: places as readonly Place[] & [Place, Place, Place], standings };
}

describe("FifoGroups", () => {
  test("lets the first of each group start, and nobody else", async () => {
    const { groups, places, standings } = setup("m1", "m2");
    const other = groups.enter("b", "n1");
    expect(standings()).toEqual(["first", "waiting"]);
    expect(other.standing).toBe("first");
    expect(await places[0].turn).toBe("come");
  });

  test("lets the next one start when the first has passed, in order", async () => {
    const { groups, places, standings } = setup("m1", "m2", "m3");
    groups.pass(places[0]);
    expect(standings()).toEqual(["over", "first", "waiting"]);
    expect(await places[1].turn).toBe("come");
    groups.pass(places[1]);
    expect(standings()).toEqual(["over", "over", "first"]);
  });

  test("ends the group behind one that leaves, and names those it takes along, last first", async () => {
    const { groups, places, standings } = setup("m1", "m2", "m3");
    expect(groups.leave(places[0]).map(({ messageId }) => messageId)).toEqual(["m3", "m2"]);
    expect(standings()).toEqual(["over", "over", "over"]);
    expect(await places[2].turn).toBe("gone");
  });

  test("leaves alone what is before one that leaves", () => {
    const { groups, places, standings } = setup("m1", "m2", "m3");
    expect(groups.leave(places[1]).map(({ messageId }) => messageId)).toEqual(["m3"]);
    expect(standings()).toEqual(["first", "over", "over"]);
    groups.pass(places[0]);
    expect(standings()).toEqual(["over", "over", "over"]);
  });

  test("begins anew with what comes after the end of the group", () => {
    const { groups, places } = setup("m1", "m2");
    groups.leave(places[0]);
    const again = groups.enter("a", "m1");
    expect(again).not.toBe(places[0]);
    expect(again.standing).toBe("first");
    expect(groups.enter("a", "m2").standing).toBe("waiting");
  });

  test("keeps the place of a message that comes again while it is here", () => {
    const { groups, places } = setup("m1", "m2");
    expect(groups.enter("a", "m2")).toBe(places[1]);
    expect(groups.enter("a", "m1")).toBe(places[0]);
  });

  test("changes nothing when a place that is over passes or leaves once more", () => {
    const { groups, places, standings } = setup("m1", "m2");
    groups.pass(places[0]);
    groups.pass(places[0]);
    expect(groups.leave(places[0])).toEqual([]);
    expect(standings()).toEqual(["over", "first"]);
  });

  test("takes ten of a group, and sends an eleventh back", () => {
    const { groups, standings } = setup(..."abcdefghij");
    expect(standings().filter((standing) => standing === "waiting")).toHaveLength(9);
    expect(groups.enter("a", "k").standing).toBe("over");
    expect(groups.enter("b", "k").standing).toBe("first");
  });
});
