/** Worker events as lines: see `telemetry.ts`; the wording: `event-log.ts`; the fields: `names.ts`. */

export { logEvent, logEvents } from "./event-log.ts";
export {
  createLogger,
  type LineFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from "./logger.ts";
export { type ReportObject, reportObject } from "./report-line.ts";
export { startTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.ts";
