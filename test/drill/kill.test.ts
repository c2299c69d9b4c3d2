/** SIGKILL, which no process can answer: the lease alone brings the job back, and in time. */

import { describe, expect, test } from "vitest";
import { type DrillSite, openTrialSite } from "./drill-site.ts";
import { nthReceive } from "./moments.ts";
import { DRILL, SLACK_MS, sendTrial } from "./promises.ts";

async function killAfter(site: DrillSite, drainingForMs: number): Promise<{ lateMs: number }> {
  const first = site.startWorker();
  const { messageId } = await sendTrial(site, { do: "work", forMs: 300_000 });
  await first.waitFor("job.started");
  const signalledAtMs = first.signal("SIGTERM");
  await first.waitFor("drain.started");
  await new Promise((resolve) => setTimeout(resolve, signalledAtMs + drainingForMs - Date.now()));
  first.signal("SIGKILL");
  expect((await first.exited).signal).toBe("SIGKILL");
  site.startWorker();
  const again = await nthReceive(site, messageId, 2);
  return { lateMs: again.endedAtMs - (signalledAtMs + site.timings.drain.killAfterMs) };
}

describe.concurrent("SIGKILL", DRILL, () => {
  test("lets a job that was running run again within the visibility timeout", async () => {
    await using site = await openTrialSite();
    const first = site.startWorker();
    const { messageId } = await sendTrial(site, { do: "work", forMs: 300_000 });
    await first.waitFor("job.started");
    await first.waitFor("lease.extended");
    const killedAtMs = first.signal("SIGKILL");
    const second = site.startWorker();
    const again = await second.waitFor("job.started");
    expect(again).toMatchObject({ message_id: messageId, receive_count: 2 });
    expect(again.atMs - killedAtMs).toBeLessThan(site.timings.lease.visibilityTimeoutMs + 1_000);
  });

  test("one second into the drain, the job is visible three seconds after the kill deadline", async () => {
    await using site = await openTrialSite();
    const { lateMs } = await killAfter(site, 1_000);
    expect(lateMs).toBeLessThan(3_000 + SLACK_MS);
  });

  test("half an extension period into the drain, likewise", async () => {
    await using site = await openTrialSite();
    const { lateMs } = await killAfter(site, site.timings.lease.extendEveryMs / 2);
    expect(lateMs).toBeLessThan(3_000 + SLACK_MS);
  });

  test("one second before the drain deadline, likewise", async () => {
    await using site = await openTrialSite();
    const { lateMs } = await killAfter(site, site.timings.drain.drainMs - 1_000);
    expect(lateMs).toBeLessThan(3_000 + SLACK_MS);
  });
});
