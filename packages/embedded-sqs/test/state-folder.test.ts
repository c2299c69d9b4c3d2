import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@leasehold/clock/manual";
import { DamagedStateError, SqsAccount } from "@leasehold/embedded-sqs";
import { afterEach, describe, expect, test } from "vitest";
import { countingIds, only, reportOf, setupAccount, testQueue } from "./account-setup.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/**
 * An account in a folder. `reopen` opens the folder again `laterMs` later in a process of its own, without
 * closing the first: what a killed process leaves behind.
 */
async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "embedded-sqs-"));
  folders.push(folder);
  const { clock, account, queue } = setupAccount({ folder });
  const q = await queue("jobs", { VisibilityTimeout: "30" });
  let lives = 0;
  const reopen = (laterMs = 0) => {
    lives += 1;
    const nextClock = new ManualClock(clock.wallMs() + laterMs);
    const next = new SqsAccount(nextClock, { folder, newId: countingIds(`life-${lives}`) });
    return { clock: nextClock, account: next, q: testQueue(next, q.QueueUrl) };
  };
  const file = (pattern: RegExp) =>
    join(folder, only(readdirSync(folder).filter((name) => pattern.test(name))));
  return { folder, clock, account, queue, q, reopen, file };
}

describe("an account in a folder", () => {
  test("keeps a message that was sent, after the process was killed", async () => {
    const { q, reopen } = await setup();
    const blob = { DataType: "Binary", BinaryValue: new Uint8Array([0, 255]) };
    const messageId = await q.send("a", { MessageAttributes: { blob }, MessageGroupId: "t" });

    const message = only(await reopen().q.receive());

    expect(message).toMatchObject({ MessageId: messageId, Body: "a" });
    expect(message.MessageAttributes).toEqual({ blob });
    expect(message.Attributes).toMatchObject({ MessageGroupId: "t", ApproximateReceiveCount: "1" });
  });

  test("keeps the deadline of a message in flight, counted on", async () => {
    const { q, reopen } = await setup();
    await q.send("a");
    await q.receive();
    const again = reopen(20_000);

    await again.clock.advance(9_999);
    expect(again.q.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
    await again.clock.advance(1);

    expect(only(await again.q.receive()).Attributes?.["ApproximateReceiveCount"]).toBe("2");
  });

  test("makes a message visible whose time was over while nothing ran", async () => {
    const { q, reopen } = await setup();
    await q.send("a");
    await q.receive();

    expect(reopen(60_000).q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });

  test("knows the handles that it gave before", async () => {
    const { q, reopen } = await setup();
    await q.send("a");
    await q.send("b");
    const [first, second] = await q.receive();
    const again = reopen();

    await again.q.remove(first?.ReceiptHandle ?? "");
    await again.q.change(second?.ReceiptHandle ?? "", 0);

    expect(await again.q.bodies()).toEqual(["b"]);
  });

  test("goes on counting, over restart after restart", async () => {
    const { q, reopen } = await setup();
    await q.send("a");
    await q.remove(only(await q.receive()).ReceiptHandle);
    await reopen().q.send("b");
    const third = reopen();
    await third.q.send("c");

    expect(reportOf(third.account, "jobs")).toMatchObject({
      sent: 3,
      received: 1,
      deleted: 1,
      visible: 2,
    });
  });

  test("keeps attributes, tags, deleted queues and a purge", async () => {
    const { account, queue, q, reopen } = await setup();
    const other = await queue("other");
    const gone = await queue("gone");
    await other.send("purged");
    await account.perform("PurgeQueue", { QueueUrl: other.QueueUrl });
    await account.perform("DeleteQueue", { QueueUrl: gone.QueueUrl });
    await account.perform("TagQueue", { QueueUrl: q.QueueUrl, Tags: { a: "1" } });
    const Attributes = { VisibilityTimeout: "77" };
    await account.perform("SetQueueAttributes", { QueueUrl: q.QueueUrl, Attributes });
    reopen();
    const again = reopen().account;

    const { QueueUrl } = q;
    expect(Object.keys(again.report().queues)).toEqual(["jobs", "other"]);
    expect(reportOf(again, "other")).toMatchObject({ purged: 1, visible: 0 });
    expect(await again.perform("ListQueueTags", { QueueUrl })).toEqual({ Tags: { a: "1" } });
    const AttributeNames = ["VisibilityTimeout"];
    expect(await again.perform("GetQueueAttributes", { QueueUrl, AttributeNames })).toEqual({
      Attributes: { VisibilityTimeout: "77" },
    });
  });

  test("keeps the order of a FIFO queue and what it remembers of duplicates", async () => {
    const { queue, reopen } = await setup();
    const fifo = await queue("orders.fifo", {
      FifoQueue: "true",
      ContentBasedDeduplication: "true",
    });
    for (const body of ["a", "b"]) await fifo.send(body, { MessageGroupId: "g" });
    reopen();
    const again = testQueue(reopen().account, fifo.QueueUrl);
    for (const body of ["b", "c"]) await again.send(body, { MessageGroupId: "g" });

    const messages = await again.receive();
    expect(messages.map(({ Body }) => Body)).toEqual(["a", "b", "c"]);
    const numbers = messages.map(({ Attributes }) => Attributes?.["SequenceNumber"] ?? "");
    expect([...numbers].sort()).toEqual(numbers);
    expect(new Set(numbers).size).toBe(3);
  });

  test("keeps a dead-lettered message in exactly one queue", async () => {
    const { account, queue, q, reopen } = await setup();
    const dlq = await queue("dead");
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 1 });
    const Attributes = { RedrivePolicy };
    await account.perform("SetQueueAttributes", { QueueUrl: q.QueueUrl, Attributes });
    await q.send("a");
    await q.receive({ VisibilityTimeout: 0 });
    await q.receive();
    const again = reopen().account;

    expect(reportOf(again, "jobs")).toMatchObject({ visible: 0, movedToDeadLetter: 1 });
    expect(reportOf(again, "dead")).toMatchObject({ visible: 1, arrivedDeadLettered: 1 });
  });

  test("goes on with a move task that was interrupted", async () => {
    const { account, queue, q, reopen } = await setup();
    const dlq = await queue("dead");
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 1 });
    const Attributes = { RedrivePolicy };
    await account.perform("SetQueueAttributes", { QueueUrl: q.QueueUrl, Attributes });
    await q.send("a");
    await q.receive({ VisibilityTimeout: 0 });
    await q.receive();
    await account.perform("StartMessageMoveTask", { SourceArn: dlq.arn });
    const again = reopen();
    await again.clock.advance(0);

    expect(await again.q.bodies()).toEqual(["a"]);
  });

  test("forgets a last line that a crash cut off, and nothing else", async () => {
    const { q, reopen, file } = await setup();
    await q.send("a");
    appendFileSync(file(/^journal/), '[{"kind":"message","queueId":"id-1","chan');

    expect(await reopen().q.bodies()).toEqual(["a"]);
  });

  test("refuses a journal that is damaged before its end, and leaves it as it is", async () => {
    const { q, reopen, file } = await setup();
    await q.send("a");
    const journal = file(/^journal/);
    appendFileSync(journal, "not json\n[]\n");
    const before = readFileSync(journal, "utf8");

    expect(() => reopen()).toThrow(DamagedStateError);
    expect(() => reopen()).toThrow(journal);
    expect(readFileSync(journal, "utf8")).toBe(before);
  });

  test("refuses a snapshot that is damaged or of another format", async () => {
    const { reopen, file } = await setup();
    const snapshot = file(/^snapshot/);
    writeFileSync(snapshot, '{"format":2,"generation":1}\n');
    expect(() => reopen()).toThrow(`${snapshot} cannot be read`);
    writeFileSync(snapshot, "");
    expect(() => reopen()).toThrow(DamagedStateError);
  });

  test("is whole after a crash while a snapshot was written", async () => {
    const { folder, q, reopen } = await setup();
    await q.send("a");
    writeFileSync(join(folder, "snapshot.ndjson.unfinished"), '{"format":1,"gen');
    writeFileSync(join(folder, "journal-2.ndjson"), "");

    expect(await reopen().q.bodies()).toEqual(["a"]);
    expect(readdirSync(folder).sort()).toEqual(["journal-2.ndjson", "snapshot.ndjson"]);
  });
});
