/** A drain as it happens, one line for each thing that a person wants to know. Pure. */

import { showDuration } from "./output.ts";
import { nameJob, numberField, timeField, type WorkerLine } from "./worker-line.ts";

type Telling = (line: WorkerLine) => string;

/** What is told of a drain, by event. */
const TOLD: Readonly<Record<string, Telling>> = {
  "drain.started": (line) => {
    const leftMs = (timeField(line, "drain_by") ?? 0) - (timeField(line, "time") ?? 0);
    const inFlight = numberField(line, "in_flight");
    if (inFlight === 0) return "drain: nothing in flight, waiting for open polls";
    const jobs = inFlight === 1 ? "1 job in flight" : `${inFlight} jobs in flight`;
    return `drain: ${jobs}, no new claims; jobs may end within ${showDuration(leftMs)}`;
  },
  "drain.in-flight": (line) => {
    const state = line.fields["started"] === false ? "not started" : "running";
    const since = showDuration(numberField(line, "held_ms"));
    return `  ${state.padEnd(13)} ${nameJob(line)}, held for ${since}`;
  },
  "drain.escalated": (line) => `drain: now ${line.fields["to_phase"]} (${line.fields["why"]})`,
  "job.aborted": (line) => `  ${"asked to stop".padEnd(13)} ${nameJob(line)}`,
  "lease.acked": (line) => `  ${"done".padEnd(13)} ${nameJob(line)}`,
  "lease.retried": (line) => `  ${"to be retried".padEnd(13)} ${nameJob(line)}${showDelay(line)}`,
  "lease.released": (line) => `  ${"released".padEnd(13)} ${nameJob(line)}${showDelay(line)}`,
  "lease.dead-lettered": (line) => `  ${"dead-lettered".padEnd(13)} ${nameJob(line)}`,
  "lease.lost": (line) => `  ${"lost".padEnd(13)} ${nameJob(line)}`,
  "lease.lapsing": (line) => `  ${"left to lapse".padEnd(13)} ${nameJob(line)}`,
  "job.ignored-abort": (line) => `  ${"ignores abort".padEnd(13)} ${nameJob(line)}`,
};

/** The line for a person, or `undefined` when the record says nothing about the drain. */
export function tellDrain(line: WorkerLine): string | undefined {
  return Object.hasOwn(TOLD, line.event) ? TOLD[line.event]?.(line) : undefined;
}

function showDelay(line: WorkerLine): string {
  const delayMs = numberField(line, "delay_ms");
  return delayMs === 0 ? ", visible now" : `, visible in ${showDuration(delayMs)}`;
}
