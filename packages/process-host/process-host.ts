/** A worker as a process: signals in, exit code out; no other package of the library touches it. */

import { MessageChannel } from "node:worker_threads";
import { type Clock, systemClock } from "@leasehold/clock";
import { forcedExitCode, type ShutdownReport, type Worker } from "@leasehold/worker";
import { ExitWatchdog } from "./exit-watchdog.ts";
import { armHardExit, type HardExit } from "./hard-exit.ts";
import type { HostProcess } from "./host-process.ts";
import { checkLaunch, readAncestors } from "./launch-check.ts";

/** What a host may be told. */
export interface HostOptions {
  /** Where snapshots and last words go, one line each. @defaultValue standard error */
  readonly write?: (line: string) => void;
  /** What is left to do when the worker has ended: flush logs, close servers. Bounded by the watchdog. */
  readonly onEnded?: (report: ShutdownReport | undefined, exitCode: number) => unknown;
  /** @defaultValue the system's */
  readonly clock?: Clock;
  /** @defaultValue this process */
  readonly process?: HostProcess;
}

const LADDER_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const;
/** How much earlier than the platform the process ends itself. */
const BEFORE_KILL_MS = 500;
/** How much later than the loop's own watchdog the thread ends the process: the loop stands still. */
const HARD_AFTER_MS = 100;
/** For last words of a process that never had a worker. */
const LAST_WORDS_MS = 5_000;
const CLEAN = 0;
const INTERNAL_FAULT = 70;
const CONFIGURATION = 78;
/** By their `code`: the service was told something that makes no sense. */
const CONFIGURATION_FAULT = /^(?:INVALID_|CONTRACT_)/;

/**
 * Runs a worker as this process, from its making to `process.exit`.
 *
 * Signals are heard before `make` is called: one that comes while the service is still being wired
 * ends the process with exit code 0 and without a claim. A fault in `make` ends it with 78 when
 * configuration or contract make no sense, and with 70 otherwise.
 *
 * @returns the exit code; with the real process it never returns
 */
export function runProcess(
  make: () => Worker | Promise<Worker>,
  options: HostOptions = {},
): Promise<number> {
  return new ProcessHost(options).run(make);
}

class ProcessHost {
  readonly #options: HostOptions;
  readonly #clock: Clock;
  readonly #process: HostProcess;
  readonly #watchdog: ExitWatchdog;
  readonly #keepAlive = new MessageChannel();
  readonly #exited = Promise.withResolvers<number>();
  #worker: Worker | undefined;
  #hardExit: HardExit | undefined;
  #firstSignal: string | undefined;
  #isExiting = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#process = options.process ?? process;
    this.#clock = options.clock ?? systemClock;
    this.#watchdog = new ExitWatchdog(this.#clock, () => this.#expire());
  }

  run(make: () => Worker | Promise<Worker>): Promise<number> {
    this.#listen();
    // Timers of the clock keep no process alive, and an idle worker has little else.
    this.#keepAlive.port1.ref();
    for (const warning of checkLaunch(readAncestors(this.#process.ppid))) {
      this.#write(`launch: ${warning}`);
    }
    void this.#live(make);
    return this.#exited.promise;
  }

  /** Before anything else, and to the very end: a signal without a listener kills. */
  #listen(): void {
    for (const signal of LADDER_SIGNALS) {
      this.#process.on(signal, () => this.#onSignal(signal));
    }
    this.#process.on("SIGUSR2", () => this.#dump());
    this.#process.on("uncaughtException", (error: unknown) => this.#onFault(error));
    this.#process.on("unhandledRejection", (error: unknown) => this.#onFault(error));
    if (this.#process.channel !== undefined) {
      this.#process.on("disconnect", () => this.#drain("parent process"));
    }
  }

  async #live(make: () => Worker | Promise<Worker>): Promise<void> {
    try {
      const worker = await make();
      if (this.#isExiting) return;
      this.#worker = worker;
      worker.onEvent((event) => {
        if (event.kind !== "drain.started") return;
        this.#arm(event.killAtMs - this.#clock.wallMs() - BEFORE_KILL_MS);
      });
      void worker.start();
      const report = await worker.ended;
      await this.#end(report.exitCode, report);
    } catch (error) {
      this.#write(`failed to start: ${describe(error)}`);
      await this.#end(isConfigurationFault(error) ? CONFIGURATION : INTERNAL_FAULT);
    }
  }

  #onSignal(signal: string): void {
    this.#firstSignal ??= signal;
    if (this.#worker === undefined) return void this.#end(CLEAN);
    const effect = this.#worker.signal(signal);
    if (effect === "force-exit") this.#exit(forcedExitCode(signal));
  }

  /** The state of the process is unknown from here on, but its leases are not: they are given back. */
  #onFault(error: unknown): void {
    this.#write(`uncaught: ${describe(error)}`);
    if (this.#worker === undefined) return void this.#end(INTERNAL_FAULT);
    void this.#worker.drain({ kind: "fatal", error: wordsOf(error) });
  }

  #drain(by: string): void {
    if (this.#worker === undefined) return void this.#end(CLEAN);
    void this.#worker.drain({ kind: "request", by });
  }

  #dump(): void {
    const snapshot = this.#worker?.snapshot() ?? { phase: "booting" };
    this.#write(JSON.stringify({ event: "worker.snapshot", ...snapshot }));
  }

  /** Twice, for a handler may block the loop before its end; only with a process that is real. */
  #arm(exitAfterMs: number): void {
    this.#watchdog.arm(exitAfterMs);
    if (this.#options.process !== undefined) return;
    this.#hardExit ??= armHardExit(exitAfterMs + HARD_AFTER_MS, this.#lateCode, (error) =>
      this.#write(`no thread watches the shutdown: ${describe(error)}`),
    );
  }

  /** The exit code of a shutdown that does not end by itself. */
  get #lateCode(): number {
    return this.#firstSignal === undefined ? INTERNAL_FAULT : forcedExitCode(this.#firstSignal);
  }

  #expire(): void {
    const code = this.#lateCode;
    this.#write(`the shutdown did not end in time: exit ${code}`);
    this.#exit(code);
  }

  async #end(exitCode: number, report?: ShutdownReport): Promise<void> {
    if (this.#isExiting) return;
    this.#isExiting = true;
    this.#watchdog.arm(LAST_WORDS_MS);
    try {
      await this.#options.onEnded?.(report, exitCode);
    } catch (error) {
      this.#write(`failed at the end: ${describe(error)}`);
    }
    this.#exit(exitCode);
  }

  #exit(exitCode: number): void {
    this.#isExiting = true;
    this.#watchdog.disarm();
    this.#hardExit?.disarm();
    this.#keepAlive.port1.close();
    this.#exited.resolve(exitCode);
    this.#process.exit(exitCode);
  }

  #write(line: string): void {
    const write = this.#options.write ?? ((text) => this.#process.stderr.write(`${text}\n`));
    write(line);
  }
}

function isConfigurationFault(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && CONFIGURATION_FAULT.test(code);
}

function wordsOf(error: unknown): { readonly name: string; readonly message: string } {
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: "NonError", message: typeof error === "string" ? error : `threw ${typeof error}` };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return wordsOf(error).message;
  // The message of a configuration fault names every problem; its stack says nothing more.
  return isConfigurationFault(error) ? error.message : (error.stack ?? error.message);
}
