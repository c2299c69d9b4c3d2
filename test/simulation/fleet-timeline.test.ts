import { orderTimeline } from "@leasehold/drill";
import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { FleetTimeline } from "./fleet-timeline.ts";
import { historyOf } from "./history.ts";
import { play } from "./world.ts";

const job = {
  tenantId: parseTenantId("acme"),
  jobId: parseJobId("job-1"),
  jobType: parseJobType("sim.plain"),
};

function setup() {
  const time = { nowMs: 0 };
  const fleet = new FleetTimeline(() => time.nowMs);
  const lease = { queue: "jobs", messageId: "m-1", receiveCount: 1 };
  const at = (nowMs: number) => {
    time.nowMs = nowMs;
    return fleet;
  };
  at(0).booted("w1");
  at(100).heard("w1", { kind: "lease.claimed", lease, remainingMs: 9_000, ageMs: 5 });
  at(120).heard("w1", { kind: "job.started", lease, job, attempt: 1, ageMs: 25 });
  return { at, lease };
}

describe("the timeline of a fleet", () => {
  test("tells a lease from its claim to its ending, with its job and its extensions", () => {
    const { at, lease } = setup();
    at(3_000).heard("w1", { kind: "lease.extended", lease, marginMs: 6_000, remainingMs: 9_000 });
    at(4_000).heard("w1", { kind: "lease.retried", lease, delayMs: 500 });

    expect(at(5_000).timeline("a history").leases).toEqual([
      {
        ...job,
        ...{ worker: "w1", queue: "jobs", messageId: "m-1", ending: "retried" },
        ...{ fromMs: 100, startedMs: 120, toMs: 4_000, extensionsMs: [3_000] },
      },
    ]);
  });

  test("cuts off what a killed worker held, and its drain", () => {
    const { at } = setup();
    at(200).signalled("w1", 1_000);
    at(210).heard("w1", { kind: "worker.phase", phase: "draining", from: "ready" });
    at(900).exited("w1", "SIGKILL");
    const { workers, leases, phases, lines } = at(5_000).timeline("a history");

    expect(workers).toEqual([{ name: "w1", bootedMs: 0, exitedMs: 900, exitCode: "SIGKILL" }]);
    expect(leases).toMatchObject([{ ending: "cut off", toMs: 900 }]);
    expect(phases).toEqual([{ worker: "w1", phase: "draining", fromMs: 210, toMs: 900 }]);
    expect(lines.map(({ kind, atMs }) => [kind, atMs])).toEqual([
      ["signal", 200],
      ["deadline", 1_200],
    ]);
  });

  test("calls parked what was acked because an operator must decide, and open what is held", () => {
    const parked = setup();
    const { lease } = parked;
    parked.at(300).heard("w1", { kind: "job.stopped", lease, job, why: "parked", during: "run" });
    parked.at(310).heard("w1", { kind: "lease.acked", lease, heldMs: 210 });

    expect(parked.at(400).timeline("a history").leases).toMatchObject([{ ending: "parked" }]);
    expect(setup().at(400).timeline("a history").leases).toMatchObject([
      { ending: "open", toMs: 400 },
    ]);
  });

  test("holds every lease and every charge of a history that was played", async () => {
    const { trace, timeline } = await play(historyOf(7, "payments"), { isTraced: true });
    const claims = trace.filter((line) => line.includes(" lease.claimed ")).length;

    expect(timeline?.title).toBe("seed 7, profile payments");
    expect(claims).toBeGreaterThan(5);
    expect(timeline?.leases.length).toBe(claims);
    expect(timeline?.leases.filter(({ ending }) => ending === "open")).toEqual([]);
    expect(timeline?.effects.filter(({ mark }) => mark === "applied").length).toBeGreaterThan(2);
    expect(() => timeline && orderTimeline(timeline)).not.toThrow();
  });

  test("is not kept where nobody wants to see it", async () => {
    expect(await play(historyOf(7, "calm"))).not.toHaveProperty("timeline");
  });
});
