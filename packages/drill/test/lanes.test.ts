import type { Timeline } from "@leasehold/drill";
import { describe, expect, test } from "vitest";
import { isWanted, lanesOf, packRows, placeLabels } from "../report-page/lanes.js";

const everything = { tenantId: "", job: "", ending: "" };

function setup(): Timeline {
  const lease = (worker: string, jobId: string, fromMs: number, toMs: number) => ({
    worker,
    queue: "q",
    messageId: `m-${jobId}`,
    tenantId: jobId === "j-3" ? "beta" : "acme",
    jobId,
    jobType: "invoice.issue",
    fromMs,
    toMs,
    ending: jobId === "j-2" ? ("released" as const) : ("acked" as const),
    extensionsMs: [],
  });
  const charge = { jobId: "j-1", effect: "charge", mark: "applied" as const };
  return {
    title: "a run",
    startedAtMs: 0,
    endMs: 1_000,
    workers: [
      { name: "one", bootedMs: 0 },
      { name: "two", bootedMs: 100 },
    ],
    leases: [
      lease("one", "j-1", 100, 500),
      lease("one", "j-2", 200, 400),
      lease("two", "j-2", 450, 700),
      lease("two", "j-3", 600, 900),
    ],
    phases: [{ worker: "one", phase: "draining", fromMs: 300, toMs: 500 }],
    lines: [{ worker: "one", atMs: 300, kind: "signal", text: "SIGTERM" }],
    effects: [
      { ...charge, worker: "one", mark: "started", atMs: 120 },
      { ...charge, atMs: 300 },
      { ...charge, atMs: 800 },
      { ...charge, worker: "two", mark: "unknown", atMs: 300 },
    ],
  };
}

describe("packRows", () => {
  test("gives a lease the first row that is free again", () => {
    const { rowOf, rows } = packRows([
      { fromMs: 0, toMs: 100 },
      { fromMs: 10, toMs: 50 },
      { fromMs: 20, toMs: 200 },
      { fromMs: 60, toMs: 90 },
      { fromMs: 100, toMs: 110 },
    ]);

    expect(rowOf).toEqual([0, 1, 2, 1, 0]);
    expect(rows).toBe(3);
  });

  test("has no rows without leases", () => {
    expect(packRows([])).toEqual({ rowOf: [], rows: 0 });
  });
});

describe("placeLabels", () => {
  test("puts a label where it covers no other, and leaves out the later one without room", () => {
    const labels = [
      { x: 20, width: 50 },
      { x: 10, width: 50 },
      { x: 0, width: 50 },
      { x: 0, width: 10 },
      { x: 70, width: 10 },
    ];

    expect(placeLabels(labels, 2)).toEqual([0, 1, -1, 0, 0]);
  });
});

describe("isWanted", () => {
  const lease = { tenantId: "acme", jobId: "Inv-7", messageId: "m-9", ending: "acked" as const };

  test("asks for tenant and ending as they are, and for any part of a job's names", () => {
    expect(isWanted(lease, everything)).toBe(true);
    expect(isWanted(lease, { ...everything, tenantId: "acme", ending: "acked" })).toBe(true);
    expect(isWanted(lease, { ...everything, job: " inv-7 " })).toBe(true);
    expect(isWanted(lease, { ...everything, job: "m-9" })).toBe(true);
    expect(isWanted(lease, { ...everything, tenantId: "acm" })).toBe(false);
    expect(isWanted(lease, { ...everything, ending: "lost" })).toBe(false);
    expect(isWanted(lease, { ...everything, job: "inv-8" })).toBe(false);
  });
});

describe("lanesOf", () => {
  test("gives each worker its leases, phases and lines", () => {
    const [one, two] = lanesOf(setup(), everything);

    expect(one?.leases.map(({ key, row }) => [key, row])).toEqual([
      ["lease 0", 0],
      ["lease 1", 1],
    ]);
    expect(one?.phases.map(({ key }) => key)).toEqual(["phase 0"]);
    expect(one?.lines.map(({ key }) => key)).toEqual(["line 0"]);
    expect(two?.leases.map(({ key, row }) => [key, row])).toEqual([
      ["lease 2", 0],
      ["lease 3", 1],
    ]);
    expect(two?.phases).toEqual([]);
  });

  test("puts an effect on the lease that covers it, whoever saw it", () => {
    const [one] = lanesOf(setup(), everything);

    expect(one?.leases[0]?.marks.map(({ key }) => key)).toEqual(["effect 0", "effect 1"]);
  });

  test("shows an effect that no lease covers beside its worker, or in a lane of its own", () => {
    const [one, two, elsewhere] = lanesOf(setup(), everything);

    expect(one?.strays).toEqual([]);
    expect(two?.strays.map(({ key }) => key)).toEqual(["effect 3"]);
    expect(elsewhere?.name).toBe("seen elsewhere");
    expect(elsewhere?.strays.map(({ key }) => key)).toEqual(["effect 2"]);
  });

  test("leaves only what the reader asked for, and every worker", () => {
    const shown = (filter: object) =>
      lanesOf(setup(), { ...everything, ...filter }).map(({ name, leases, strays }) => [
        name,
        leases.map(({ of }) => of.jobId),
        strays.length,
      ]);

    expect(shown({ tenantId: "beta" })).toEqual([
      ["one", [], 0],
      ["two", ["j-3"], 0],
    ]);
    expect(shown({ job: "j-2" })).toEqual([
      ["one", ["j-2"], 0],
      ["two", ["j-2"], 0],
    ]);
    expect(shown({ ending: "released" })).toEqual([
      ["one", ["j-2"], 0],
      ["two", ["j-2"], 0],
    ]);
  });
});
