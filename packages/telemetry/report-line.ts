/** A shutdown report as one machine-readable object in snake_case. Pure. */

import type { ShutdownCause, ShutdownReport, UnfinishedJob } from "@leasehold/worker";
import { snakeCase } from "./names.ts";

/** A shutdown report as JSON has it: points in time in ISO 8601, durations in `_ms`. */
export type ReportObject = Readonly<Record<string, unknown>>;

/** The report for a log line or a file; it names each unfinished job. */
export function reportObject(report: ShutdownReport): ReportObject {
  const { cause: kind, ...cause } = causeFields(report.cause);
  return {
    cause: { kind, ...cause },
    exit_code: report.exitCode,
    summary: report.summary,
    started_at: isoTime(report.startedAtMs),
    ended_at: isoTime(report.endedAtMs),
    phases_ms: snakeNumbers(report.phasesMs),
    totals: snakeNumbers(report.totals),
    queues_with_polls_left: report.queuesWithPollsLeft ?? [],
    unfinished: report.unfinished.map(unfinishedObject),
  };
}

/** Why a worker ends, as flat fields of a line. */
export function causeFields(
  cause: ShutdownCause,
): Readonly<Record<string, string>> & { readonly cause: ShutdownCause["kind"] } {
  switch (cause.kind) {
    case "signal":
      return { cause: cause.kind, signal: cause.signal };
    case "request":
      return { cause: cause.kind, requested_by: cause.by };
    case "fatal":
      return {
        cause: cause.kind,
        error_name: cause.error.name,
        error_message: cause.error.message,
      };
  }
}

function unfinishedObject(job: UnfinishedJob): ReportObject {
  return {
    // null, not absent: a reader of this list then finds the same fields in each entry.
    tenant_id: job.job?.tenantId ?? null,
    job_id: job.job?.jobId ?? null,
    job_type: job.job?.jobType ?? null,
    queue: job.queue,
    message_id: job.messageId,
    disposal: job.disposal,
    started: job.started,
    ignored_abort: job.ignoredAbort,
    visible_by: job.visibleByMs === undefined ? null : isoTime(job.visibleByMs),
  };
}

/** Numbers by their names; nothing but a number, so nothing that could be a payload. */
function snakeNumbers(numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => [snakeCase(name), value]),
  );
}

/** A point in time as lines have it; a number that is none as a text that says so. */
export function isoTime(unixMs: number): string {
  const date = new Date(unixMs);
  return Number.isNaN(date.getTime()) ? "invalid" : date.toISOString();
}
