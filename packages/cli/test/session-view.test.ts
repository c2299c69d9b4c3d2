import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { Output } from "../output.ts";
import { countLine, EMPTY_TALLY } from "../session-tally.ts";
import { SessionView } from "../session-view.ts";
import { readWorkerLine } from "../worker-line.ts";

const job = {
  message_id: "m-1",
  tenant_id: "acme",
  job_id: "inv-7",
  job_type: "receipt.render",
};

const report = {
  cause: { kind: "signal", signal: "SIGINT" },
  exit_code: 75,
  summary: "1 job was released unfinished",
  started_at: "2026-05-01T10:00:00.000Z",
  ended_at: "2026-05-01T10:00:09.200Z",
  phases_ms: { draining: 8_000, aborting: 1_000, releasing: 0, flushing: 200 },
  totals: {
    in_flight_at_start: 3,
    acked: 2,
    retried: 0,
    dead_lettered: 0,
    released: 1,
    lapsing: 0,
    lost: 0,
    polls_left: 0,
  },
  unfinished: [
    {
      ...job,
      queue: "billing-jobs",
      disposal: "released",
      started: true,
      ignored_abort: false,
      visible_by: "2026-05-01T10:00:09.000Z",
    },
    {
      tenant_id: null,
      job_id: null,
      job_type: null,
      queue: "billing-jobs",
      message_id: "m-2",
      disposal: "lapsing",
      started: false,
      ignored_abort: false,
      visible_by: null,
    },
  ],
};

function setup({ json = false } = {}) {
  const written: string[] = [];
  const stream = new PassThrough();
  stream.on("data", (chunk: Buffer) => written.push(String(chunk).trimEnd()));
  const view = new SessionView(new Output({ stdout: stream, stderr: stream, json }));
  const show = (event: string, fields: object = {}, level = "info") => {
    const text = JSON.stringify({
      level,
      time: "2026-05-01T10:00:00.000Z",
      event,
      msg: `said ${event}`,
      ...fields,
    });
    view.showLine(text, readWorkerLine(text));
    return text;
  };
  return { view, written, show };
}

describe("what people see of a session", () => {
  test("nothing of a worker that works as it should", () => {
    const { show, written } = setup();

    show("worker.ready");
    show("job.started", job);
    show("lease.released", { ...job, delay_ms: 0 });

    expect(written).toEqual([]);
  });

  test("warnings with the job and the reason, and whatever is no record", () => {
    const { view, show, written } = setup();

    show("lease.dead-lettered", { ...job, reason: "not-json" }, "warn");
    show("claim.failed", { error_message: "no route to host" }, "warn");
    view.showLine("(node:7) Warning: beware", readWorkerLine("(node:7) Warning: beware"));
    view.showLine("{broken", readWorkerLine("{broken"));

    expect(written).toEqual([
      "warning: said lease.dead-lettered (receipt.render acme/inv-7: not-json)",
      "warning: said claim.failed (no route to host)",
      "(node:7) Warning: beware",
      "{broken",
    ]);
  });

  test("the drain as it happens", () => {
    const { show, written } = setup();

    show("drain.started", { in_flight: 3, drain_by: "2026-05-01T10:00:08.000Z" });
    show("drain.in-flight", { ...job, started: true, held_ms: 3_250 });
    show("drain.in-flight", { message_id: "m-2", started: false, held_ms: 12 });
    show("lease.acked", job, "debug");
    show("drain.escalated", { to_phase: "aborting", why: "the drain deadline has passed" }, "warn");
    show("job.aborted", { ...job, cause: "draining" }, "warn");
    show("lease.released", { ...job, delay_ms: 0 });
    show("lease.retried", { ...job, delay_ms: 5_000 }, "debug");
    show("lease.lapsing", { ...job, visible_in_ms: 2_000 }, "warn");

    expect(written).toEqual([
      "drain: 3 jobs in flight, no new claims; jobs may end within 8.0 s",
      "  running       receipt.render acme/inv-7, held for 3.3 s",
      "  not started   message m-2, held for 12 ms",
      "  done          receipt.render acme/inv-7",
      "drain: now aborting (the drain deadline has passed)",
      "  asked to stop receipt.render acme/inv-7",
      "  released      receipt.render acme/inv-7, visible now",
      "  to be retried receipt.render acme/inv-7, visible in 5.0 s",
      "  left to lapse receipt.render acme/inv-7",
    ]);
  });

  test("the shutdown report, as text", () => {
    const { view, show, written } = setup();

    show("drain.finished", { report }, "warn");
    expect(view.hasReport).toBe(true);
    view.showReport();

    expect(written).toEqual([
      "shutdown report",
      "  cause       SIGINT",
      "  took        9.2 s (draining 8.0 s, aborting 1.0 s, flushing 200 ms)",
      "  in flight   3 when the drain began",
      "  ended       2 acked, 1 released",
      "  unfinished  2",
      "    receipt.render acme/inv-7, released, visible again by 2026-05-01T10:00:09.000Z",
      "    message m-2, lapsing, not started",
      "  exit code  75: 1 job was released unfinished",
    ]);
  });

  test("no report when the worker gave none", () => {
    const { view, show, written } = setup();

    show("drain.finished", { report: "unreadable" });
    view.showReport();

    expect(view.hasReport).toBe(false);
    expect(written).toEqual([]);
  });

  test("how things stand, troubles only when there are any", () => {
    const { view, written } = setup();
    const tally = { ...EMPTY_TALLY, running: 2, acked: 7, extended: 3 };

    view.showStanding({ sent: 10, sentByJobs: 0, receipts: 4, tally });
    view.showStanding({
      sent: 10,
      sentByJobs: 5,
      receipts: 4,
      tally: { ...tally, lost: 1, retried: 2 },
    });

    expect(written).toEqual([
      "jobs sent 10  running 2  done 7  leases extended 3  PDFs 4",
      "jobs sent 10 + 5 by jobs  running 2  done 7  leases extended 3  PDFs 4  retried 2  leases lost 1",
    ]);
  });
});

describe("what machines see of a session", () => {
  test("the worker's own lines from info on, unchanged", () => {
    const { view, show, written } = setup({ json: true });

    const info = show("job.started", job);
    show("lease.acked", job, "debug");
    const warning = show("lease.lost", job, "error");
    view.showLine("no record", undefined);
    view.showStanding({ sent: 1, sentByJobs: 0, receipts: 0, tally: EMPTY_TALLY });

    expect(written).toEqual([info, warning]);
  });
});

describe("the tally", () => {
  test("counts each event once, also those that are printed nowhere", () => {
    const events = [
      ...["job.started", "job.started", "job.ended", "lease.acked", "lease.extended"],
      ...["lease.extended", "lease.retried", "lease.released", "lease.dead-lettered"],
      ...["lease.lost", "lease.claimed", "constructor"],
    ];
    const lines = events.map(
      (event) => ({ event, level: "debug", message: "", fields: {} }) as const,
    );

    expect(lines.reduce(countLine, EMPTY_TALLY)).toEqual({
      running: 1,
      acked: 1,
      retried: 1,
      released: 1,
      deadLettered: 1,
      lost: 1,
      extended: 2,
    });
  });
});
