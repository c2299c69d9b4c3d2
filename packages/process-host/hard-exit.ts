/** Ends the process from a thread of its own, when the event loop stands still before its end. */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "@leasehold/clock";

/** What the thread is told. */
export interface HardExitData {
  /** On the monotonic clock of the process. */
  readonly exitAtMs: number;
  readonly exitCode: number;
  /** One word that becomes 1 when the process ends by itself. */
  readonly control: SharedArrayBuffer;
}

/** A hard exit that may still be called off. */
export interface HardExit {
  disarm(): void;
}

const THREAD_FILE = `./hard-exit-entry${extname(import.meta.filename)}`;

/**
 * Ends the process in `afterMs`, whatever the event loop does then.
 *
 * A handler that computes is interrupted, and the process exits with `exitCode`. What cannot be
 * interrupted, a synchronous call into the system, is ended by SIGKILL (137). As PID 1 of a
 * container even that is ignored by the kernel, and the platform's own kill ends it.
 *
 * @param onFailure - the thread could not start or has crashed; the loop's own watchdog is left
 */
export function armHardExit(
  afterMs: number,
  exitCode: number,
  onFailure: (error: unknown) => void,
): HardExit {
  const control = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const exitAtMs = systemClock.monotonicMs() + afterMs;
  const workerData: HardExitData = { exitAtMs, exitCode, control };
  const url = new URL(THREAD_FILE, import.meta.url);
  const thread = new Worker(url, { workerData, name: "hard exit" });
  thread.unref();
  thread.on("error", onFailure);
  return {
    disarm: () => {
      const word = new Int32Array(control);
      Atomics.store(word, 0, 1);
      Atomics.notify(word, 0);
    },
  };
}
