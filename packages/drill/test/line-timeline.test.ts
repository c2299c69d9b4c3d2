import { orderTimeline } from "@leasehold/drill";
import { expect, test } from "vitest";
import { timelineOf } from "../line-timeline.ts";
import { facts, firstWorker, line, request, secondWorker } from "./drill-facts.ts";

test("draws leases, extensions, phases, signals and deadlines from what the workers said", () => {
  const drawn = orderTimeline(timelineOf(facts()));
  expect(drawn.title).toBe("long job");
  expect(drawn.endMs).toBe(12_000);
  expect(drawn.workers).toEqual([
    { name: "first", bootedMs: 0, exitedMs: 10_020, exitCode: 75 },
    { name: "second", bootedMs: 8_000, exitedMs: 11_000, exitCode: 0 },
  ]);
  const job = { tenantId: "acme", jobId: "job-1", jobType: "mail" };
  const place = { queue: "jobs", messageId: "m-1" };
  expect(drawn.leases).toEqual([
    {
      ...{ worker: "first", ...place, ...job, fromMs: 1_000, startedMs: 1_010, toMs: 10_010 },
      ...{ ending: "released", extensionsMs: [1_900] },
    },
    {
      ...{ worker: "second", ...place, ...job, fromMs: 10_030, startedMs: 10_040, toMs: 10_310 },
      ...{ ending: "acked", extensionsMs: [] },
    },
  ]);
  expect(drawn.phases).toEqual([
    { worker: "first", phase: "draining", fromMs: 2_001, toMs: 10_000 },
    { worker: "first", phase: "aborting", fromMs: 10_000, toMs: 10_011 },
    { worker: "first", phase: "flushing", fromMs: 10_011, toMs: 10_020 },
  ]);
  expect(drawn.lines).toEqual([
    { worker: "first", atMs: 2_000, kind: "signal", text: "SIGTERM" },
    { worker: "first", atMs: 2_040, kind: "note", text: "not ready" },
    { worker: "first", atMs: 10_000, kind: "deadline", text: "drain deadline" },
  ]);
});

test("marks what a provider says has happened, and when", () => {
  const charge = { effect: "charge", jobId: "INV-7", tenantId: "acme", atMs: 5_500 };
  expect(timelineOf(facts({ effectMoments: [charge] })).effects).toEqual([
    { effect: "charge", jobId: "INV-7", tenantId: "acme", atMs: 4_500, mark: "applied" },
  ]);
});

test("tells a lease that a kill cut off from one that is still held, and shows faults", () => {
  const cut = firstWorker({
    lines: [line("lease.claimed", 2_000)],
    exit: { code: null, signal: "SIGKILL", atMs: 4_000 },
    requests: [{ ...request("ChangeMessageVisibility", 3_500), fault: { kind: "hung" } }],
  });
  const { exit: _, ...going } = secondWorker({ lines: [line("lease.claimed", 12_000)] });
  const drawn = timelineOf(facts({ workers: [cut, going] }));
  expect(drawn.leases.map(({ ending, toMs }) => [ending, toMs])).toEqual([
    ["cut off", 3_000],
    ["open", 12_000],
  ]);
  expect(drawn.lines).toContainEqual({
    ...{ worker: "first", atMs: 2_500, kind: "fault", text: "ChangeMessageVisibility: hung" },
  });
  expect(drawn.workers[0]?.exitCode).toBe("SIGKILL");
});
