/** The entrance: names handed on, nothing else. */

export { htmlReport } from "./html-report.ts";
export { jsonReport } from "./json-report.ts";
export type { Report, ReportNumber, VerdictRow } from "./report.ts";
export { type TableOptions, tableReport } from "./table-report.ts";
export {
  type LeaseEnding,
  orderTimeline,
  type Timeline,
  type TimelineEffect,
  TimelineError,
  type TimelineLease,
  type TimelineLine,
  type TimelinePhase,
  type TimelineWorker,
} from "./timeline.ts";
