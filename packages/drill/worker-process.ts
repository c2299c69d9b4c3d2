/** A real worker process under test: spawned, read line by line, signalled, awaited. */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { systemClock } from "@leasehold/clock";

/** One log line of the worker, parsed; `time` is the worker's own stamp. */
export interface LogLine {
  readonly event: string;
  /** Unix time at which the worker wrote it. */
  readonly atMs: number;
  readonly [field: string]: unknown;
}

/** What a worker process said and how it ended. */
export interface WorkerProcess {
  readonly pid: number;
  /** Every line so far, in order. */
  readonly lines: readonly LogLine[];
  /** Everything that is no log line: stderr, and stdout that is not JSON. */
  readonly noise: readonly string[];
  /** The first line, past or future, that fits; rejects when the process ends without one. */
  waitFor(event: string, fits?: (line: LogLine) => boolean): Promise<LogLine>;
  /** Sends a signal; returns the moment at which it was sent, Unix time. */
  signal(name: NodeJS.Signals): number;
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly atMs: number;
  }>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Waiter {
  readonly fits: (line: LogLine) => boolean;
  readonly resolve: (line: LogLine) => void;
  readonly reject: (error: Error) => void;
}

/** Starts a program with `environment` alone (and PATH), as a platform would: no shell between. */
export function startWorkerProcess(
  [program = process.execPath, ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): WorkerProcess {
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new SpawnedWorker(child, [program, ...args].join(" "));
}

/** The command of a script for this Node; packages are reached by their sources without a build. */
export function nodeCommand(
  script: string,
  ...args: readonly string[]
): readonly [program: string, ...args: string[]] {
  const conditions = script.endsWith(".ts") ? ["--conditions=source"] : [];
  return [process.execPath, ...conditions, script, ...args];
}

/** Signals a process that was started by one of ours. */
export function signalProcess(pid: number, name: NodeJS.Signals): void {
  process.kill(pid, name);
}

class SpawnedWorker implements WorkerProcess {
  readonly pid: number;
  readonly lines: LogLine[] = [];
  readonly noise: string[] = [];
  readonly exited: WorkerProcess["exited"];
  readonly #child: ChildProcess;
  readonly #waiters = new Set<Waiter>();
  #ended = false;

  constructor(child: ChildProcess, command: string) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.#read(child.stdout, (text) => this.#hear(text));
    this.#read(child.stderr, (text) => void this.noise.push(text));
    const { promise, resolve } = Promise.withResolvers<Awaited<WorkerProcess["exited"]>>();
    this.exited = promise;
    // A program that is not there: told like one that ends at once.
    child.once("error", (error) => void this.noise.push(error.message));
    child.once("close", (code, signal) => {
      this.#ended = true;
      resolve({ code, signal, atMs: systemClock.wallMs() });
      for (const { reject } of this.#waiters) reject(this.#gone(command, code ?? signal));
    });
  }

  waitFor(event: string, fits: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    const isIt = (line: LogLine) => line.event === event && fits(line);
    const past = this.lines.find(isIt);
    if (past !== undefined) return Promise.resolve(past);
    if (this.#ended) return Promise.reject(this.#gone(event, "already"));
    const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
    this.#waiters.add({ fits: isIt, resolve, reject });
    return promise;
  }

  signal(name: NodeJS.Signals): number {
    const atMs = systemClock.wallMs();
    this.#child.kill(name);
    return atMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) this.#child.kill("SIGKILL");
    await this.exited;
  }

  #read(stream: NodeJS.ReadableStream | null, hear: (text: string) => void): void {
    if (stream !== null) createInterface({ input: stream }).on("line", hear);
  }

  #hear(text: string): void {
    const line = parseLine(text);
    if (line === undefined) {
      this.noise.push(text);
      return;
    }
    this.lines.push(line);
    for (const waiter of [...this.#waiters]) {
      if (!waiter.fits(line)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(line);
    }
  }

  #gone(what: string, how: unknown): Error {
    const last = [...this.lines.slice(-15).map((line) => JSON.stringify(line)), ...this.noise];
    return new Error(
      `the worker ended (${String(how)}) before "${what}"; it said:\n${last.join("\n")}`,
    );
  }
}

function parseLine(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  const fields = JSON.parse(text) as Record<string, unknown>;
  if (typeof fields["event"] !== "string") return undefined;
  return { ...fields, event: fields["event"], atMs: Date.parse(String(fields["time"])) };
}
