/** The life of a worker: start, pause, drain, end, in the order that loses nothing. */

import type { ShutdownCause, ShutdownReport } from "./shutdown-report.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { WorkerSnapshot } from "./worker-snapshot.ts";

/** A listener for everything a worker reports. */
export type WorkerListener = (event: WorkerEvent) => void;

/** A worker; it never touches the process: signals come in through `signal` and `drain`. */
export interface Worker {
  /** Checks its queues and starts to claim. Calling it twice is the same as once. */
  start(): Promise<void>;
  /** Stops claiming until `resume`; jobs in flight go on. Does nothing once a drain has begun. */
  pause(): void;
  resume(): void;
  /**
   * Begins the drain, or returns the one that goes on. Resolves when everything is settled,
   * released or given up, at the latest at the last of its deadlines; never rejects. A worker that
   * was never started resolves at once with exit code 0.
   */
  drain(cause: ShutdownCause): Promise<ShutdownReport>;
  /**
   * A signal of the ladder: the first drains, the second aborts, the third releases, the fourth
   * forces the end; repeats within a second count as one. SIGQUIT goes straight to aborting.
   * @returns what it led to
   */
  signal(name: string): "draining" | "escalated" | "ignored" | "force-exit";
  snapshot(): WorkerSnapshot;
  /** Hears every event from now on; returns how to stop hearing. */
  onEvent(listener: WorkerListener): () => void;
  /** Resolves with the report once the worker has exited, however that came about. */
  readonly ended: Promise<ShutdownReport>;
}
