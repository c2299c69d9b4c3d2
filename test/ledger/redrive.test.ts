import { describe, expect, test } from "vitest";
import type { World } from "../support/worker-world.ts";
import { charge, openLedgerWorld } from "./ledger-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };
const BROKEN = new Error("no printer");

/** A world whose handler charges, then prints as it is told to. */
async function setup({ isChargedFirst = false } = {}) {
  let isBroken = true;
  const attempts: number[] = [];
  const world = await openLedgerWorld({
    handler: async (_, { attempt, once }) => {
      attempts.push(attempt);
      if (isChargedFirst) await once("charge", {}, charge(world));
      if (isBroken) throw BROKEN;
      if (!isChargedFirst) await once("charge", {}, charge(world));
    },
  });
  const mend = () => {
    isBroken = false;
  };
  return { world, attempts, mend };
}

async function untilDead({ clock, queue }: World): Promise<void> {
  while (queue.counts().deadLettered === 0) await clock.advance(10_000);
}

/** As an operator does it in the console: SQS moves the messages, each under a new id. */
async function redrive({ clock, queue: { account } }: World): Promise<void> {
  const [SourceArn, DestinationArn] = [await arnOf("jobs-dlq"), await arnOf("jobs")];
  await account.perform("StartMessageMoveTask", { SourceArn, DestinationArn });
  await clock.advance(0);

  async function arnOf(QueueName: string): Promise<string> {
    const { QueueUrl } = await account.perform("GetQueueUrl", { QueueName });
    const AttributeNames = ["QueueArn"];
    const answer = await account.perform("GetQueueAttributes", { QueueUrl, AttributeNames });
    return String(answer.Attributes?.["QueueArn"]);
  }
}

describe("a dead job that was redriven", () => {
  test.each([false, true])(
    "has all its attempts again, and what was charged stays charged (charged first: %s)",
    async (isChargedFirst) => {
      const { world, attempts, mend } = await setup({ isChargedFirst });
      await world.send();
      await untilDead(world);
      expect(attempts).toEqual([1, 2, 3, 4, 5]);
      await redrive(world);
      await untilDead(world);
      expect(attempts).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
      expect(await world.store.recordOf(1)).toMatchObject({ state: "dead", generation: 2 });
      mend();
      await redrive(world);
      await world.clock.advance(10_000);
      expect(await world.store.recordOf(1)).toMatchObject({ state: "done", generation: 3 });
      expect(world.charges).toHaveLength(1);
      expect(world.queue.counts()).toEqual(NOTHING_LEFT);
    },
  );

  test("stays dead when it has died again and its message cannot be deleted for ten minutes", async () => {
    const { world, attempts } = await setup();
    await world.send();
    await untilDead(world);
    await redrive(world);
    world.queue.fault = ({ kind }) => (kind === "delete" ? { kind: "throttled" } : undefined);
    await untilDead(world);
    await world.clock.advance(600_000);
    expect(attempts).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    world.queue.fault = () => undefined;
    await world.clock.advance(600_000);
    expect(attempts).toHaveLength(10);
    expect(world.queue.counts()).toMatchObject({ visible: 0, inFlight: 0, delayed: 0 });
  });
});
