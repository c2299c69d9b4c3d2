/** Facts of a drill, made by hand, in which every promise was held. */

import { defineContract, workerTimings } from "@leasehold/deployment-contract";
import type { LogLine } from "@leasehold/drill";
import type { ProxiedRequest } from "@leasehold/local-aws";
import type { DrillRecord, WorkerRecord } from "../drill-record.ts";

const contract = defineContract({
  preset: "drill",
  service: "facts",
  queues: [{ name: "jobs", deadLetter: { name: "jobs-dead" } }],
  ledger: { kind: "none" },
});

/** A line about `m-1`. */
export function line(event: string, atMs: number, fields: object = {}): LogLine {
  const about = { message_id: "m-1", receive_count: 1, job_id: "job-1" };
  return { ...about, tenant_id: "acme", job_type: "mail", queue: "jobs", ...fields, event, atMs };
}

/** A request that SQS answered after 5 ms. */
export function request(
  action: string,
  atMs: number,
  entry: ProxiedRequest["entries"][number] | undefined = undefined,
): ProxiedRequest {
  return {
    ...{ requestNumber: 1, action, resource: "jobs", nth: 1, fault: undefined, stage: "over" },
    entries: entry === undefined ? [] : [{ outcome: "ok", ...entry }],
    ...{ arrivedAtMs: atMs, forwardedAtMs: atMs, answeredAtMs: atMs + 5, status: 200 },
  };
}

export const received = (atMs: number, receiptHandle: string) =>
  request("ReceiveMessage", atMs, { messageId: "m-1", receiptHandle });
export const released = (atMs: number, receiptHandle: string) =>
  request("ChangeMessageVisibility", atMs, { receiptHandle, visibilityTimeoutSeconds: 0 });
export const deleted = (atMs: number, receiptHandle: string) =>
  request("DeleteMessage", atMs, { receiptHandle });

/** The first worker: a job is cut at the deadline, released and the worker exits with 75. */
export function firstWorker(change: Partial<WorkerRecord> = {}): WorkerRecord {
  return {
    name: "first",
    startedAtMs: 1_000,
    signals: [{ name: "SIGTERM", atMs: 3_000 }],
    lines: [
      line("lease.claimed", 2_000),
      line("job.started", 2_010),
      line("lease.extended", 2_900),
      line("worker.phase", 3_001, { phase: "draining" }),
      line("drain.started", 3_001),
      line("worker.phase", 11_000, { phase: "aborting" }),
      line("job.ended", 11_001, { outcome: "interrupted" }),
      line("lease.released", 11_010),
      line("worker.phase", 11_011, { phase: "flushing" }),
    ],
    noise: [],
    requests: [received(1_995, "r-1"), released(11_003, "r-1")],
    unreadyAtMs: 3_040,
    exit: { code: 75, signal: null, atMs: 11_020 },
    ...change,
  };
}

/** The second one: starts what was released, and finishes it. */
export function secondWorker(change: Partial<WorkerRecord> = {}): WorkerRecord {
  const again = { receive_count: 2 };
  return {
    name: "second",
    startedAtMs: 9_000,
    signals: [],
    lines: [
      line("lease.claimed", 11_030, again),
      line("job.started", 11_040, again),
      line("job.ended", 11_200, { ...again, outcome: "succeeded" }),
      line("lease.acked", 11_310, again),
    ],
    noise: [],
    requests: [received(11_020, "r-2"), deleted(11_300, "r-2")],
    exit: { code: 0, signal: null, atMs: 12_000 },
    ...change,
  };
}

/** A scenario in which every promise was held, but for what is changed. */
export function facts(change: Partial<DrillRecord> = {}): DrillRecord {
  return {
    scenario: "long job",
    startedAtMs: 1_000,
    endedAtMs: 13_000,
    timings: workerTimings(contract),
    sent: [{ messageId: "m-1", tenantId: "acme", jobId: "job-1" }],
    workers: [firstWorker(), secondWorker()],
    left: { onQueue: 0, dead: 0 },
    ...change,
  };
}
