/** From when to when each handler ran, by the workers' own lines. Pure. */

import type { DrillRecord, WorkerRecord } from "./drill-record.ts";
import type { LogLine } from "./worker-process.ts";

/** One run of one handler. */
export interface HandlerRun {
  readonly worker: string;
  readonly messageId: string;
  readonly jobId: string;
  readonly startedAtMs: number;
  /** When it ended, or its process did; absent while it still runs. */
  readonly endedAtMs?: number;
  /** As the worker says; absent when the process ended first. */
  readonly outcome?: string;
}

/** Every run of every handler, in the order of their starts. */
export function handlerRuns({ workers }: Pick<DrillRecord, "workers">): readonly HandlerRun[] {
  return workers.flatMap(runsOf).toSorted((one, other) => one.startedAtMs - other.startedAtMs);
}

function runsOf({ name, lines, exit }: WorkerRecord): readonly HandlerRun[] {
  const starts = lines.filter(({ event }) => event === "job.started");
  const ends = lines.filter(({ event }) => event === "job.ended");
  return starts.map((start) => {
    const index = ends.findIndex(
      (end) => isSameMessage(end, start) && end["receive_count"] === start["receive_count"],
    );
    const [end] = index === -1 ? [] : ends.splice(index, 1);
    const endedAtMs = end?.atMs ?? exit?.atMs;
    return {
      worker: name,
      messageId: String(start["message_id"]),
      jobId: String(start["job_id"]),
      startedAtMs: start.atMs,
      ...(endedAtMs !== undefined && { endedAtMs }),
      ...(end !== undefined && { outcome: String(end["outcome"]) }),
    };
  });
}

function isSameMessage(one: LogLine, other: LogLine): boolean {
  return one["message_id"] === other["message_id"];
}
