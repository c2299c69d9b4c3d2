/** The entrance: names handed on, nothing else. */

export { drillProgress, drillReport } from "./drill-report.ts";
export type {
  DrillCompanion,
  DrillJob,
  DrillNumbers,
  DrillPlace,
  DrillTarget,
  DrillWork,
} from "./drill-target.ts";
export { htmlReport } from "./html-report.ts";
export { jsonReport } from "./json-report.ts";
export type { Report, ReportNumber, VerdictRow } from "./report.ts";
export { type DrillPart, type DrillResult, type DrillRunOptions, runDrill } from "./run-drill.ts";
export { type Scenario, unfitness } from "./scenario.ts";
export { scenarios } from "./scenarios.ts";
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
export {
  type LogLine,
  nodeCommand,
  startWorkerProcess,
  type WorkerProcess,
} from "./worker-process.ts";
