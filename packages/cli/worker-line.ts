/** One line of a worker's output: a log record with its event, or anything else. Pure. */

import type { JobIdentity } from "@leasehold/job";

/** A log record of a worker. */
export interface WorkerLine {
  /** Fixed name, for example `lease.acked`; empty when the record has none. */
  readonly event: string;
  readonly level: Level;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** How grave a record is, least first. */
const LEVELS = ["debug", "info", "warn", "error", "fatal"] as const;
/** One of the levels. */
export type Level = (typeof LEVELS)[number];

/** Whether a level is as grave as another, or graver. */
export function isAtLeast(level: Level, least: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

/** The record, or `undefined` for a line that is none (a library that prints, a stack trace). */
export function readWorkerLine(text: string): WorkerLine | undefined {
  if (!text.startsWith("{")) return undefined;
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { level, event, msg } = fields as { level?: unknown; event?: unknown; msg?: unknown };
  return {
    event: typeof event === "string" ? event : "",
    level: LEVELS.find((known) => known === level) ?? "info",
    message: typeof msg === "string" ? msg : "",
    fields,
  };
}

/** Which job a record speaks of: `tenant/id type`, or the message when it became no job. */
export function nameJob({ fields }: Pick<WorkerLine, "fields">): string {
  const { tenant_id: tenantId, job_id: jobId, job_type: jobType } = fields;
  if (typeof jobId !== "string") return `message ${fields["message_id"] ?? "unknown"}`;
  return showJob({ tenantId, jobId, jobType } as JobIdentity);
}

/** A job for people, the same way everywhere. */
export function showJob({ tenantId, jobId, jobType }: JobIdentity): string {
  return `${jobType} ${tenantId}/${jobId}`;
}

/** A field that is a point in time, as Unix milliseconds; `undefined` when it is missing. */
export function timeField(
  { fields }: Pick<WorkerLine, "fields">,
  name: string,
): number | undefined {
  const value = fields[name];
  const unixMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(unixMs) ? undefined : unixMs;
}

/** A field that is a number; 0 when it is missing. */
export function numberField({ fields }: Pick<WorkerLine, "fields">, name: string): number {
  const value = fields[name];
  return typeof value === "number" ? value : 0;
}
