/** A handler that blocks the event loop: the extender's thread keeps its lease, up to a bound. */

import type { ContractInput } from "@leasehold/deployment-contract";
import type { WorkerProcess } from "@leasehold/drill";
import { describe, expect, test } from "vitest";
import { type DrillSite, openTrialSite } from "./drill-site.ts";
import { type MessageMoment, momentsOf } from "./moments.ts";
import { DRILL, SLACK_MS, sendTrial } from "./promises.ts";

const VISIBILITY_MS = 7_000;
const EXTENDER = { TRIAL_EXTENDER: "thread" };

/** Leases that are short for a real process, so that three of them fit into a test. */
function numbers(maxBlockedMs: number): Partial<ContractInput> {
  return {
    preset: "drill",
    platform: { graceMs: 40_000 },
    shutdown: { drainMs: 30_000 },
    queues: [{ name: "trial-jobs", deadLetter: { name: "trial-jobs-dead" }, waitMs: 1_000 }],
    lease: {
      visibilityTimeoutMs: VISIBILITY_MS,
      extendEveryMs: 1_500,
      callTimeoutMs: 500,
      maxBlockedMs,
    },
  };
}

/** Two workers and one job, which the first of them has. */
async function blockFirst(site: DrillSite, forMs: number) {
  const first = site.startWorker(EXTENDER);
  await first.waitFor("worker.ready");
  const { messageId } = await sendTrial(site, { do: "block", forMs });
  await first.waitFor("job.started");
  const second = site.startWorker(EXTENDER);
  await second.waitFor("worker.ready");
  return { first, second, messageId };
}

const startsOf = ({ lines }: WorkerProcess) =>
  lines.filter(({ event }) => event === "job.started").length;

const callsOf = (site: DrillSite, messageId: string, action: string): MessageMoment[] =>
  momentsOf(site, messageId).filter((moment) => moment.action.startsWith(action));

describe.concurrent("a handler that blocks the event loop", DRILL, () => {
  test("for three visibility timeouts is started once and acked once (taskforcesh/bullmq 3056, 3183)", async () => {
    await using site = await openTrialSite(numbers(25_000));
    const { first, second, messageId } = await blockFirst(site, 3 * VISIBILITY_MS);

    await Promise.race([first.waitFor("lease.acked"), first.waitFor("lease.lost")]);
    expect(first.lines.filter(({ event }) => event === "lease.lost")).toEqual([]);
    const blocked = await first.waitFor("lease.loop-blocked");

    expect(blocked["extensions_paused"]).toBe(false);
    expect(blocked["blocked_ms"]).toBeGreaterThan(3 * VISIBILITY_MS - SLACK_MS);
    expect(startsOf(first)).toBe(1);
    expect(startsOf(second)).toBe(0);
    expect(callsOf(site, messageId, "ReceiveMessage")).toHaveLength(1);
    expect(callsOf(site, messageId, "ChangeMessageVisibility").length).toBeGreaterThan(8);
    expect(callsOf(site, messageId, "DeleteMessage")).toHaveLength(1);
  });

  test("for longer than it may loses the message V after the last extension, and does not delete it", async () => {
    await using site = await openTrialSite(numbers(2_000));
    const { first, second, messageId } = await blockFirst(site, 2 * VISIBILITY_MS);

    await Promise.race([second.waitFor("job.started"), first.waitFor("job.ended")]);
    expect(startsOf(second)).toBe(1);
    const again = await second.waitFor("job.started");
    const extensions = callsOf(site, messageId, "ChangeMessageVisibility");
    const lastExtensionAtMs = extensions.at(-1)?.endedAtMs ?? 0;
    await second.waitFor("lease.acked");
    const lost = await first.waitFor("lease.lost");
    await first.waitFor("job.ended");
    first.signal("SIGTERM");
    await first.exited;

    expect(extensions.length).toBeGreaterThan(0);
    expect(again.atMs - lastExtensionAtMs).toBeLessThan(VISIBILITY_MS + SLACK_MS);
    expect(again["receive_count"]).toBe(2);
    expect(lost["cause"]).toBe("expired");
    expect(callsOf(site, messageId, "ChangeMessageVisibility")).toEqual(extensions);
    // The one delete is the second worker's: it left before the first one's loop turned again.
    const [deleted, ...others] = callsOf(site, messageId, "DeleteMessage");
    expect(others).toEqual([]);
    expect(deleted?.startedAtMs).toBeLessThan(lost.atMs);
  });

  test("in the drain is ended before the platform kills, with the exit code of its signal", async () => {
    await using site = await openTrialSite();
    const worker = site.startWorker();
    await sendTrial(site, { do: "block-in-drain", forMs: 120_000 });
    await worker.waitFor("job.started");
    const signalledAtMs = worker.signal("SIGTERM");
    const { code, atMs } = await worker.exited;

    expect(code).toBe(143);
    expect(atMs).toBeGreaterThan(signalledAtMs + site.timings.drain.exitAfterMs - SLACK_MS);
    expect(atMs).toBeLessThan(signalledAtMs + site.timings.drain.killAfterMs);
    expect(worker.noise.join("\n")).toContain("the event loop is blocked");
  });
});
