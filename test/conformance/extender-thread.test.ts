/** A lease that must reach far, extended by the real thread over HTTP: the main thread makes no call. */

import { systemClock } from "@leasehold/clock";
import { type RequestEntry, startEmbeddedSqs } from "@leasehold/embedded-sqs";
import {
  type Lease,
  type LeaseEvent,
  type LeaseQueue,
  openLeaseSource,
  sqsClients,
  sqsLeaseQueue,
  startExtenderThread,
} from "@leasehold/lease";
import { expect, onTestFinished, test } from "vitest";

/** A queue that the main thread can receive from, and cannot extend at. */
async function setup() {
  const changes: RequestEntry[] = [];
  const sqs = await startEmbeddedSqs({
    clock: systemClock,
    onRequest: (event) => {
      const isChange = event.action.startsWith("ChangeMessageVisibility");
      if (isChange && event.kind === "answered") changes.push(...event.entries);
    },
  });
  const { QueueUrl } = await sqs.account.perform(
    "CreateQueue",
    { QueueName: "jobs" },
    { endpoint: sqs.endpoint },
  );
  await sqs.account.perform("SendMessage", { QueueUrl, MessageBody: "job" });
  const connection = {
    ...{ region: "us-east-1", endpoint: sqs.endpoint },
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  };
  const clients = sqsClients(connection);
  const real = sqsLeaseQueue({ clients, queueUrl: QueueUrl });
  const mainThread = { extensions: 0 };
  const queue: LeaseQueue = {
    ...{ name: real.name, url: real.url, fifo: false, hasDeadLetterQueue: false },
    receive: (request) => real.receive(request),
    delete: (handles) => real.delete(handles),
    deadLetter: (copy) => real.deadLetter(copy),
    changeVisibility: async () => {
      mainThread.extensions += 1;
      throw new Error("the main thread has extended");
    },
  };
  const thread = startExtenderThread({ connection, maxBlockedMs: 60_000 });
  await thread.started;
  const events: LeaseEvent[] = [];
  const source = openLeaseSource({
    ...{ queue, clock: systemClock, extenderThread: thread },
    onEvent: (event) => events.push(event),
  });
  onTestFinished(async () => {
    source.close();
    thread.close();
    clients.destroy();
    await sqs.close();
  });
  const [lease] = await source.claim({ maxMessages: 1, waitMs: 0 });
  return { lease: lease as Lease, changes, events, mainThread };
}

test("reaches as far as an effect needs by one extension that the thread makes", async () => {
  const { lease, changes, events, mainThread } = await setup();
  lease.start();
  expect(await lease.reach(30_000)).toBe(true);
  expect(changes).toEqual([]);

  expect(await lease.reach(300_000)).toBe(true);

  // The effect's time and its margin, with what the call and the clocks may take.
  expect(changes).toMatchObject([{ visibilityTimeoutSeconds: 303, outcome: "changed" }]);
  expect(lease.remainingMs()).toBeGreaterThanOrEqual(299_000);
  expect(lease.remainingMs()).toBeLessThanOrEqual(303_000);
  expect([mainThread.extensions, events.map(({ kind }) => kind)]).toEqual([
    0,
    expect.not.arrayContaining(["lease.extender-failed", "lease.lost"]),
  ]);
});
