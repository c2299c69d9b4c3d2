/** The life of a worker: start, pause, drain, end, in the order that loses nothing. */

import type { WorkerListener } from "./listeners.ts";
import type { ShutdownCause, ShutdownReport } from "./shutdown-report.ts";
import { WorkerLife } from "./worker-life.ts";
import { assertFit, type WorkerParts } from "./worker-parts.ts";
import type { WorkerSnapshot } from "./worker-snapshot.ts";

/** A worker; it never touches the process: signals come in through `signal` and `drain`. */
export interface Worker {
  /**
   * Checks its queues and starts to claim. Resolves once every queue has answered, or a drain has
   * begun before that; never rejects. Calling it twice is the same as once.
   */
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

/**
 * Makes a worker of its parts. Nothing is claimed before `start`.
 *
 * @throws ContractViolationError when the contract's numbers would lose or double work
 * @throws InvalidOptionsError naming every part and option that does not fit
 */
export function createWorker(parts: WorkerParts): Worker {
  assertFit(parts);
  return new WorkerLife(parts);
}
