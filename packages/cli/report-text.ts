/** A shutdown report for people. Pure. */

import type { ShutdownCause, ShutdownReport, UnfinishedJob } from "@leasehold/worker";
import { alignPairs, showDuration } from "./output.ts";
import { showJob } from "./worker-line.ts";

/** What the report says, as lines for a terminal. */
export function reportLines(report: ShutdownReport): readonly string[] {
  const { totals, unfinished } = report;
  const took = showDuration(report.endedAtMs - report.startedAtMs);
  return [
    "shutdown report",
    ...alignPairs([
      ["cause", showCause(report.cause)],
      ["took", `${took} (${showPhases(report.phasesMs)})`],
      ["in flight", `${totals.inFlightAtStart} when the drain began`],
      ["ended", showTotals(totals)],
      ["unfinished", unfinished.length === 0 ? "none" : String(unfinished.length)],
    ]),
    ...unfinished.map((job) => `    ${showUnfinished(job)}`),
    ...alignPairs([["exit code", `${report.exitCode}: ${report.summary}`]]),
  ];
}

function showCause(cause: ShutdownCause): string {
  switch (cause.kind) {
    case "signal":
      return cause.signal;
    case "request":
      return `asked for by ${cause.by}`;
    case "fatal":
      return `${cause.error.name}: ${cause.error.message}`;
  }
}

function showPhases(phasesMs: ShutdownReport["phasesMs"]): string {
  const entered = Object.entries(phasesMs).filter(([, durationMs]) => durationMs > 0);
  if (entered.length === 0) return "nothing to wait for";
  return entered.map(([name, durationMs]) => `${name} ${showDuration(durationMs)}`).join(", ");
}

function showTotals(totals: ShutdownReport["totals"]): string {
  const counts: readonly (readonly [number, string])[] = [
    [totals.acked, "acked"],
    [totals.retried, "to be retried"],
    [totals.deadLettered, "dead-lettered"],
    [totals.released, "released"],
    [totals.lapsing, "left to lapse"],
    [totals.lost, "lost"],
    [totals.pollsLeft, "polls left open"],
  ];
  const shown = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return shown.length === 0 ? "nothing had to" : shown.join(", ");
}

function showUnfinished(unfinished: UnfinishedJob): string {
  const { job, messageId, disposal, started, ignoredAbort, visibleByMs } = unfinished;
  const name = job === undefined ? `message ${messageId}` : showJob(job);
  const state = ignoredAbort ? "still running, ignored its abort" : started ? "" : "not started";
  const when =
    visibleByMs === undefined ? "" : `visible again by ${new Date(visibleByMs).toISOString()}`;
  return [name, disposal, state, when].filter((part) => part !== "").join(", ");
}
