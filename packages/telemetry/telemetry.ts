/** Worker events as log lines, wired for one worker. */

import type { Worker } from "@leasehold/worker";
import { logEvents } from "./event-log.ts";
import { createLogger, type Logger, type LoggerOptions } from "./logger.ts";

/** What telemetry runs for one worker. */
export interface Telemetry {
  /** For the service's own lines; they carry the same worker, service and version. */
  readonly logger: Logger;
  /** Stops listening; what was written stays written. */
  stop(): void;
}

/** How the lines of a worker are written; who it is the worker says itself. */
export type TelemetryOptions = Omit<LoggerOptions, "service" | "version" | "workerId">;

/** Listens to a worker from now on. Start it before the worker, so that nothing is missed. */
export function startTelemetry(
  worker: Pick<Worker, "onEvent" | "snapshot">,
  options: TelemetryOptions = {},
): Telemetry {
  const { service, version, workerId } = worker.snapshot();
  const logger = createLogger({ ...options, service, version, workerId });
  return { logger, stop: logEvents(worker, logger) };
}
