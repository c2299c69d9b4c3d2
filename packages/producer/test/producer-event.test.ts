import { once } from "node:events";
import { createProducer, type ProducerEvent } from "@leasehold/producer";
import { expect, test } from "vitest";
import { openQueue } from "./queue-site.ts";

async function setup() {
  const site = await openQueue();
  const events: ProducerEvent[] = [];
  const producer = createProducer({ ...site, onEvent: (event) => void events.push(event) });
  return { producer, events };
}

test("a made-up job id is told once for each type, with its price and the way out", async () => {
  const { producer, events } = await setup();
  const job = { tenantId: "acme", payload: null };

  const first = await producer.send("a.b", job);
  await producer.send("a.b", job);
  await producer.send("c.d", job);

  const { jobId } = first as { readonly jobId: string };
  expect(events.map(({ kind, jobType }) => [kind, jobType])).toEqual([
    ["job-id-made-up", "a.b"],
    ["job-id-made-up", "c.d"],
  ]);
  expect(events[0]).toMatchObject({ tenantId: "acme", jobId });
  expect(events[0]?.message).toBe(
    `a job a.b was sent without jobId and was given ${jobId}: sent again, after a timeout or a ` +
      "crash of its sender, it is another job and its work is done twice; give it a business " +
      "identity, for example an invoice's id and version or a webhook's event id",
  );
});

test("whoever hears no events is warned by Node", async () => {
  const { producer } = await openQueue();
  const warned = once(process, "warning");

  await producer.send("x.y", { tenantId: "acme", payload: null });

  const [{ code, message }] = await warned;
  expect(code).toBe("LEASEHOLD_JOB_ID_MADE_UP");
  expect(message).toMatch(/^a job x\.y was sent without jobId/);
});

test("a business identity is nothing to talk about, nor is a job that was refused", async () => {
  const { producer, events } = await setup();

  await producer.send("a.b", { tenantId: "acme", jobId: "inv-7.v1", payload: null });
  await producer.send("a.b", { tenantId: "", payload: null });

  expect(events).toEqual([]);
});

test("what was told is not remembered without end", async () => {
  const { producer, events } = await setup();
  const job = { tenantId: "acme", payload: null };

  await producer.sendMany(Array.from({ length: 130 }, (_, n) => ({ ...job, type: `type-${n}` })));

  expect(events).toHaveLength(100);
});
