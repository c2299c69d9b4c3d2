/** The shutdown report of a log record, read back into what the worker meant. Pure. */

import type { JobIdentity } from "@leasehold/job";
import type { ShutdownCause, ShutdownReport, UnfinishedJob } from "@leasehold/worker";

type Fields = Readonly<Record<string, unknown>>;

/** The report, or `undefined` when the record carries none that can be read. */
export function readReport(record: unknown): ShutdownReport | undefined {
  if (!isFields(record) || !isFields(record["totals"]) || !isFields(record["phases_ms"])) {
    return undefined;
  }
  return {
    cause: readCause(record["cause"]),
    exitCode: Number(record["exit_code"]),
    summary: String(record["summary"] ?? ""),
    startedAtMs: readTime(record["started_at"]),
    endedAtMs: readTime(record["ended_at"]),
    phasesMs: readNumbers(record["phases_ms"]) as ShutdownReport["phasesMs"],
    totals: readNumbers(record["totals"]) as ShutdownReport["totals"],
    unfinished: readList(record["unfinished"]).map(readUnfinished),
  };
}

function readCause(value: unknown): ShutdownCause {
  const fields = isFields(value) ? value : {};
  switch (fields["kind"]) {
    case "signal":
      return { kind: "signal", signal: String(fields["signal"]) };
    case "request":
      return { kind: "request", by: String(fields["requested_by"]) };
    default: {
      const error = { name: fields["error_name"], message: fields["error_message"] };
      return {
        kind: "fatal",
        error: { name: String(error.name ?? "Error"), message: String(error.message ?? "unknown") },
      };
    }
  }
}

function readUnfinished(fields: Fields): UnfinishedJob {
  const { tenant_id: tenantId, job_id: jobId, job_type: jobType, visible_by: visibleBy } = fields;
  const isKnown = typeof jobId === "string";
  return {
    ...(isKnown ? { job: { tenantId, jobId, jobType } as JobIdentity } : {}),
    queue: String(fields["queue"]),
    messageId: String(fields["message_id"]),
    disposal: fields["disposal"] as UnfinishedJob["disposal"],
    started: fields["started"] === true,
    ignoredAbort: fields["ignored_abort"] === true,
    ...(typeof visibleBy === "string" ? { visibleByMs: readTime(visibleBy) } : {}),
  };
}

/** Counts and durations: `in_flight_at_start` is `inFlightAtStart` again. */
function readNumbers(fields: Fields): Record<string, number> {
  const entries = Object.entries(fields).map(
    ([name, value]) =>
      [
        name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        Number(value),
      ] as const,
  );
  return Object.fromEntries(entries);
}

function readTime(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}

function readList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
