import { describe, expect, test } from "vitest";
import { setupAccount } from "./account-setup.ts";

async function setup() {
  const { clock, queue } = setupAccount();
  const q = await queue("jobs");
  /** Sends each text for the tenant that its first letter names. */
  const send = async (...bodies: string[]) => {
    for (const body of bodies) await q.send(body, { MessageGroupId: body.slice(0, 1) });
  };
  return { clock, q, send };
}

describe("a standard queue", () => {
  test("serves the tenant with fewer messages in flight first", async () => {
    const { q, send } = await setup();
    await send("a1", "a2", "a3", "a4");
    await q.receive({ MaxNumberOfMessages: 2 });
    await send("b1", "b2");

    expect(await q.bodies({ MaxNumberOfMessages: 3 })).toEqual(["b1", "b2", "a3"]);
  });

  test("shares one receive among tenants that are equally quiet", async () => {
    const { q, send } = await setup();
    await send("a1", "a2", "a3", "b1", "c1", "c2");

    expect(await q.bodies({ MaxNumberOfMessages: 5 })).toEqual(["a1", "b1", "c1", "a2", "c2"]);
  });

  test("forgets the load of a tenant whose messages were deleted or released", async () => {
    const { q, send } = await setup();
    await send("a1", "a2", "a3");
    const [first, second] = await q.receive({ MaxNumberOfMessages: 2 });
    await send("b1");
    await q.remove(first?.ReceiptHandle ?? "");
    await q.change(second?.ReceiptHandle ?? "", 0);

    expect(await q.bodies({ MaxNumberOfMessages: 1 })).toEqual(["a2"]);
  });

  test("works the messages of one tenant side by side", async () => {
    const { q, send } = await setup();
    await send("a1", "a2");
    await q.receive({ MaxNumberOfMessages: 1 });

    expect(await q.bodies()).toEqual(["a2"]);
  });

  test("takes messages without a group as those of one tenant", async () => {
    const { q, send } = await setup();
    await q.send("x1");
    await q.send("x2");
    await q.receive({ MaxNumberOfMessages: 1 });
    await send("a1");

    expect(await q.bodies()).toEqual(["a1", "x2"]);
  });
});
