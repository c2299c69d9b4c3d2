/** What runs in the thread of a hard exit: it sleeps, and ends the process unless it is woken. */

import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { systemClock } from "@leasehold/clock";
import type { HardExitData } from "./hard-exit.ts";

const { exitAtMs, exitCode, control } = workerData as HardExitData;
const word = new Int32Array(control);
/** To be interrupted takes a busy engine a moment. */
const INTERRUPT_MS = 200;
const STANDARD_ERROR = 2;

/** Whether nobody has called it off. */
function sleep(durationMs: number): boolean {
  return Atomics.wait(word, 0, 0, Math.max(0, durationMs)) === "timed-out";
}

/** Past `process.stderr`, which goes through the thread that stands still. */
function say(line: string): void {
  try {
    writeSync(STANDARD_ERROR, `${line}\n`);
  } catch {
    // Nobody reads; the exit code has to say it all.
  }
}

/** In this thread `process.exit` ends the thread only, so the main thread is made to call it. */
async function interruptMain(): Promise<void> {
  try {
    const { Session } = await import("node:inspector");
    const session = new Session();
    session.connectToMainThread();
    session.post("Runtime.evaluate", { expression: `process.exit(${exitCode})` });
    sleep(INTERRUPT_MS);
    session.disconnect(); // The exit may wait for that.
    sleep(INTERRUPT_MS);
  } catch {
    // A Node without inspector: only the kill is left.
  }
}

if (sleep(exitAtMs - systemClock.monotonicMs())) {
  say(`the event loop is blocked and the shutdown did not end in time: exit ${exitCode}`);
  await interruptMain();
  say("the event loop cannot be interrupted: SIGKILL");
  process.kill(process.pid, "SIGKILL");
}
