/** A pino logger that prints named fields only, and never a payload or a secret. */

import pino from "pino";
import { LOG_FIELDS, SECRET_NAME } from "./names.ts";

/** How grave a line is. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "fatal";

/** Fields of a line by their names in `names.ts`; others are dropped. */
export type LineFields = Readonly<Record<string, unknown>>;

/** Writes lines of JSON. */
export interface Logger {
  isEnabled(level: LogLevel): boolean;
  /** @param event - a fixed name like `lease.claimed`, for machines; `message` is for people */
  write(level: LogLevel, event: string, message: string, fields?: LineFields): void;
}

/** What a logger says about itself in every line, and where its lines go. */
export interface LoggerOptions {
  readonly service: string;
  readonly version: string;
  readonly workerId: string;
  /** The least grave level that is printed. @defaultValue "info" */
  readonly level?: LogLevel | "silent";
  /**
   * Where the lines go, one `write` for each. Must have taken a line when `write` returns, or the
   * report of a shutdown is lost in a process that ends right after it.
   * @defaultValue standard output, written synchronously
   */
  readonly destination?: { write(line: string): void };
  /** Unix time. @defaultValue the system's */
  readonly wallMs?: () => number;
}

/**
 * A logger for one worker.
 *
 * Lines are written synchronously: whatever was logged has left the process when `process.exit`
 * follows, at the price that a reader of standard output who stops reading stops the worker.
 * A broken pipe is ignored: a worker does not die of a log that nobody reads.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { service, version, workerId, level = "info", wallMs } = options;
  const lines = pino(
    {
      level,
      base: { service, version, worker_id: workerId },
      timestamp:
        wallMs === undefined
          ? pino.stdTimeFunctions.isoTime
          : () => `,"time":"${new Date(wallMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    options.destination ?? pino.destination({ dest: 1, sync: true }),
  );
  return {
    isEnabled: (at) => lines.isLevelEnabled(at),
    write: (at, event, message, fields = {}) => {
      if (!lines.isLevelEnabled(at)) return;
      lines[at]({ event, ...allowed(fields) }, "%s", cut(message));
    },
  };
}

/** Long enough for a reason, too short for a payload to hide in one. */
const SHOWN_CHARACTERS = 1_000;
const SHOWN_STACK_CHARACTERS = 8_000;

function allowed(fields: LineFields): LineFields {
  const kept = Object.entries(fields).filter(([name]) => LOG_FIELDS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, harmless(name, value)]));
}

function harmless(name: string, value: unknown): unknown {
  if (typeof value === "string") {
    return cut(value, name === "error_stack" ? SHOWN_STACK_CHARACTERS : SHOWN_CHARACTERS);
  }
  if (typeof value === "number") return rounded(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => harmless(name, item));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET_NAME.test(key) ? "[redacted]" : harmless(key, inner),
    ]),
  );
}

/** A tenth of a millisecond is as fine as anybody reads. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 10) / 10;
}

function cut(text: string, limit: number = SHOWN_CHARACTERS): string {
  return text.length > limit ? `${text.slice(0, limit)}... (${text.length} characters)` : text;
}
