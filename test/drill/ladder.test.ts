/** Repeated signals: one press counts once, each further one takes the next rung. */

import { describe, expect, test } from "vitest";
import { openTrialSite } from "./drill-site.ts";
import { nthReceive, releasesOf } from "./moments.ts";
import { DRILL, SLACK_MS, sendTrial, unfinishedOf } from "./promises.ts";
import { startStallingProxy } from "./stalling-proxy.ts";

/** Repeats within this time count as one signal. */
const REPEAT_MS = 1_000;

const pause = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

describe.concurrent("the signal ladder", DRILL, () => {
  test("takes two SIGTERM within a second for one: the job may still end by itself", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    await sendTrial(site, { do: "work", forMs: 3_000 });
    await worker.waitFor("job.started");
    worker.signal("SIGTERM");
    await worker.waitFor("drain.started");
    worker.signal("SIGINT");
    expect((await worker.exited).code).toBe(0);
    expect(worker.lines.filter(({ event }) => event === "drain.escalated")).toEqual([]);
    expect(worker.lines.find(({ event }) => event === "drain.signal-ignored")).toMatchObject({
      signal: "SIGINT",
    });
  });

  test("aborts at the second signal, long before the deadline", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "work", forMs: 300_000 });
    await worker.waitFor("job.started");
    const firstAtMs = worker.signal("SIGTERM");
    await pause(REPEAT_MS + 200);
    worker.signal("SIGTERM");
    const { code, atMs } = await worker.exited;
    expect(code).toBe(75);
    expect(atMs - firstAtMs).toBeLessThan(site.timings.drain.drainMs);
    expect(releasesOf(site, messageId)).toHaveLength(1);
  });

  test("releases what ignores its abort at the third signal", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "ignore-abort", forMs: 300_000 });
    await worker.waitFor("job.started");
    worker.signal("SIGTERM");
    await pause(REPEAT_MS + 200);
    worker.signal("SIGTERM");
    await worker.waitFor("job.aborted");
    await pause(REPEAT_MS + 200);
    worker.signal("SIGTERM");
    expect((await worker.exited).code).toBe(76);
    expect(unfinishedOf(worker)).toMatchObject([
      { job_id: "trial-1", ignored_abort: true, disposal: "released" },
    ]);
    site.startWorker();
    expect((await nthReceive(site, messageId, 2)).receiveCount).toBe(2);
  });

  test("is forced out by the fourth signal while SQS does not answer, with the signal's own code", async () => {
    await using site = await openTrialSite();
    await using wire = await startStallingProxy(site.aws.sqsEndpoint);
    const worker = site.startWorker({ AWS_ENDPOINT_URL_SQS: wire.endpoint });
    await sendTrial(site, { do: "ignore-abort", forMs: 300_000 }, "trial-deaf");
    await sendTrial(site, { do: "say-done", forMs: 300_000 }, "trial-done");
    const startedAs = (jobId: string) =>
      worker.waitFor("job.started", (line) => line["job_id"] === jobId);
    await Promise.all([startedAs("trial-deaf"), startedAs("trial-done")]);
    wire.stall();
    worker.signal("SIGTERM");
    await pause(REPEAT_MS + 100);
    worker.signal("SIGTERM");
    await pause(REPEAT_MS + 100);
    worker.signal("SIGTERM");
    await pause(REPEAT_MS + 100);
    const lastAtMs = worker.signal("SIGINT");
    const { code, atMs } = await worker.exited;
    expect(code).toBe(130);
    expect(atMs - lastAtMs).toBeLessThan(500 + SLACK_MS);
  });

  test("drains in an instant when it is idle, whatever the poll's wait", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    await site.waitForRequest("begun", ({ action }) => action === "ReceiveMessage");
    const signalledAtMs = worker.signal("SIGTERM");
    const { code, atMs } = await worker.exited;
    expect(code).toBe(0);
    expect(atMs - signalledAtMs).toBeLessThan(site.waitMs + 1_500);
  });

  test("leaves an idle poll behind at the second signal, and says which", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    await site.waitForRequest("begun", ({ action }) => action === "ReceiveMessage");
    worker.signal("SIGQUIT");
    const { code } = await worker.exited;
    const report = worker.lines.find(({ event }) => event === "drain.finished")?.["report"];
    expect(code).toBe(0);
    expect(report).toMatchObject({ totals: { polls_left: 1 } });
  });
});
