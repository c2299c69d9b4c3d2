/** A message that arrives in the last second of an open long poll, while the worker drains. */

import { describe, expect, test } from "vitest";
import { openTrialSite } from "./drill-site.ts";
import { nthReceive, releasesOf } from "./moments.ts";
import { DRILL, SLACK_MS, sendTrial } from "./promises.ts";

describe("SIGTERM on an idle worker", DRILL, () => {
  test("releases what its open poll still brings, and another worker has it at once (celery/kombu 1819; ruby-shoryuken 677)", async () => {
    await using site = await openTrialSite();
    const first = site.startWorker();
    await first.waitFor("worker.ready");
    const poll = await site.waitForRequest("begun", ({ action }) => action === "ReceiveMessage");
    first.signal("SIGTERM");
    await first.waitFor("drain.started");
    await new Promise((resolve) =>
      setTimeout(resolve, poll.startedAtMs + site.waitMs - 700 - Date.now()),
    );
    const { messageId } = await sendTrial(site, { do: "work", forMs: 1 });
    const { code } = await first.exited;

    expect(code).toBe(0);
    expect(first.lines.filter(({ event }) => event === "job.started")).toEqual([]);
    expect(first.lines.filter(({ event }) => event === "drain.late-arrival")).toMatchObject([
      { message_id: messageId },
    ]);
    const received = await nthReceive(site, messageId, 1);
    const [release] = releasesOf(site, messageId);
    expect((release?.startedAtMs ?? 0) - received.endedAtMs).toBeLessThan(500 + SLACK_MS);

    const second = site.startWorker();
    const again = await second.waitFor("job.started");
    expect(again).toMatchObject({ message_id: messageId, receive_count: 2 });
    const ready = await second.waitFor("worker.ready");
    expect(again.atMs - ready.atMs).toBeLessThan(1_000);
  });
});
