/** SIGTERM against jobs in flight: what ends in time is acked, what does not is handed over. */

import { describe, expect, test } from "vitest";
import { openBillingSite, openTrialSite } from "./drill-site.ts";
import { momentsOf, nthReceive, onlyReleaseOf } from "./moments.ts";
import {
  DRILL,
  readinessTurnsBad,
  SLACK_MS,
  sendBilling,
  sendTrial,
  unfinishedOf,
} from "./promises.ts";

describe.concurrent("SIGTERM with jobs in flight", DRILL, () => {
  test("acks every render that ends before the deadline, exits 0 and claims nothing more", async () => {
    await using site = await openBillingSite(2_000);
    const worker = site.startWorker();
    const receipts = await sendBilling(site, worker, 4);
    const ready = readinessTurnsBad(worker);

    const signalledAtMs = worker.signal("SIGTERM");
    const notReadyAtMs = await ready;
    const { code } = await worker.exited;

    expect(code).toBe(0);
    const ended = worker.lines.filter(({ event }) => event === "job.ended");
    for (const { job_id } of receipts) {
      expect(ended.filter((line) => line["job_id"] === job_id)).toMatchObject([
        { outcome: "succeeded" },
      ]);
    }
    const claims = site.begun.filter(
      ({ action, startedAtMs }) =>
        action === "ReceiveMessage" && startedAtMs > signalledAtMs + SLACK_MS,
    );
    expect(claims).toEqual([]);
    expect(
      worker.lines.filter(
        ({ event, atMs }) =>
          event === "claim.poll" && atMs > signalledAtMs + SLACK_MS + site.waitMs,
      ),
    ).toEqual([]);
    const firstRelease = site.answered.find(
      (request) =>
        request.startedAtMs > signalledAtMs &&
        request.entries.some((entry) => entry.visibilityTimeoutSeconds === 0),
    );
    if (firstRelease !== undefined)
      expect(notReadyAtMs).toBeLessThanOrEqual(firstRelease.endedAtMs + SLACK_MS);
  });

  test("releases a job longer than the deadline; another worker starts it within a second", async () => {
    await using site = await openTrialSite();
    const first = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "work", forMs: 300_000 });
    await first.waitFor("job.started");
    const ready = readinessTurnsBad(first);
    first.signal("SIGTERM");
    const notReadyAtMs = await ready;
    const second = site.startWorker();
    const { code } = await first.exited;

    expect(code).toBe(75);
    const release = onlyReleaseOf(site, messageId);
    expect(notReadyAtMs).toBeLessThan(release.startedAtMs);
    const again = await second.waitFor("job.started");
    expect(again).toMatchObject({ message_id: messageId, receive_count: 2 });
    expect(again.atMs - release.endedAtMs).toBeLessThan(1_000);
    expect(unfinishedOf(first)).toMatchObject([
      {
        tenant_id: "acme",
        job_id: "trial-1",
        job_type: "trial.work",
        disposal: "released",
        started: true,
      },
    ]);
    const byReport = Date.parse(String(unfinishedOf(first)[0]?.["visible_by"]));
    expect(byReport).toBeGreaterThanOrEqual(release.startedAtMs);
    expect(again.atMs).toBeLessThan(byReport + 1_000);
  });

  test("runs a job again whose handler returned quietly when it was aborted, and does not ack it", async () => {
    await using site = await openTrialSite();
    const first = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "return-quietly", forMs: 300_000 });
    await first.waitFor("job.started");
    first.signal("SIGTERM");
    expect((await first.exited).code).toBe(75);
    expect(momentsOf(site, messageId).filter(({ outcome }) => outcome === "deleted")).toEqual([]);

    const second = site.startWorker();
    expect(await second.waitFor("job.started")).toMatchObject({
      message_id: messageId,
      receive_count: 2,
    });
  });

  test("acks a job that says done although it was aborted", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "say-done", forMs: 300_000 });
    await worker.waitFor("job.started");
    worker.signal("SIGTERM");
    expect((await worker.exited).code).toBe(0);
    expect(momentsOf(site, messageId).filter(({ outcome }) => outcome === "deleted")).toHaveLength(
      1,
    );
  });

  test("names a handler that ignores its abort, and gives its job back after the process has gone", async () => {
    await using site = await openTrialSite();
    const first = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "ignore-abort", forMs: 300_000 });
    await first.waitFor("job.started");
    first.signal("SIGTERM");
    const { code, atMs } = await first.exited;
    expect(code).toBe(76);
    expect(unfinishedOf(first)).toMatchObject([
      { tenant_id: "acme", job_id: "trial-1", job_type: "trial.work", ignored_abort: true },
    ]);

    const second = site.startWorker();
    await second.waitFor("worker.ready");
    const again = await nthReceive(site, messageId, 2);
    expect(again.endedAtMs).toBeGreaterThanOrEqual(atMs);
    expect(again.endedAtMs - atMs).toBeLessThan(site.timings.drain.taperAfterMs);
  });
});
