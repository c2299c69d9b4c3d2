/** Where a command speaks: lines for people or JSON for machines, and a status line on a terminal. */

import type { Writable } from "node:stream";

/** A stream that may be a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What an output writes to, and for whom. */
export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** One JSON object on each line of stdout, and nothing else there. */
  readonly json: boolean;
}

const ERASE_LINE = "\r\u001b[K";
const DEFAULT_COLUMNS = 80;
/** A line that wraps could not be erased, and a terminal writes `^C` behind it. */
const KEY_ECHO_COLUMNS = 3;

/** The only way to stdout and stderr; keeps the status line below all other lines. */
export class Output {
  readonly json: boolean;
  /** Whether `status` redraws one line; elsewhere it prints a line each time. */
  readonly isLive: boolean;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  #status = "";

  constructor({ stdout, stderr, json }: OutputOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.json = json;
    this.isLive = !json && stdout.isTTY === true;
  }

  /** A line for people; machines are not told. */
  say(line: string): void {
    if (!this.json) this.#line(this.#stdout, line);
  }

  /** A record for machines; people are not told. */
  record(fields: Readonly<Record<string, unknown>>): void {
    if (this.json) this.#stdout.write(`${JSON.stringify(fields)}\n`);
  }

  /** A line that is JSON already, for machines. */
  pass(jsonLine: string): void {
    if (this.json) this.#stdout.write(`${jsonLine}\n`);
  }

  /** A line on stderr, for everyone. */
  warn(line: string): void {
    this.#line(this.#stderr, line);
  }

  /** How things stand: replaces the last status on a terminal; an empty one takes it away. */
  status(line: string): void {
    if (this.json) return;
    if (!this.isLive) {
      if (line !== "" && line !== this.#status) this.#stdout.write(`${line}\n`);
      this.#status = line;
      return;
    }
    this.#status = fit(line, (this.#stdout.columns ?? DEFAULT_COLUMNS) - KEY_ECHO_COLUMNS);
    this.#stdout.write(`${ERASE_LINE}${this.#status}`);
  }

  #line(stream: OutputStream, line: string): void {
    if (!this.isLive || this.#status === "") {
      stream.write(`${line}\n`);
      return;
    }
    this.#stdout.write(ERASE_LINE);
    stream.write(`${line}\n`);
    this.#stdout.write(this.#status);
  }
}

/** Whole parts only: half a number would be another number. */
function fit(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const end = line.lastIndexOf("  ", columns);
  return line.slice(0, end > 0 ? end : columns);
}

/** Names and values in two columns, for people. */
export function alignPairs(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(0, ...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
}

/** A duration for people: `350 ms`, `2.4 s`, `3 min 5 s`. */
export function showDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(1)} s`;
  const wholeSeconds = Math.round(durationMs / 1_000);
  return `${Math.floor(wholeSeconds / 60)} min ${wholeSeconds % 60} s`;
}
