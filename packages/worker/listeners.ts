/** Hands every event to every listener, none of which can do harm. */

import type { WorkerEvent } from "./worker-event.ts";

/** A listener for everything a worker reports. */
export type WorkerListener = (event: WorkerEvent) => void;

/** The listeners of one worker. */
export class Listeners {
  readonly #listeners = new Set<WorkerListener>();

  /** Hears every event from now on; returns how to stop hearing. */
  add(listener: WorkerListener): () => void {
    // A wrapper of its own, so that the same function may listen twice.
    const own: WorkerListener = (event) => listener(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  emit(event: WorkerEvent): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch {
        // A listener's fault is its own; a job or a drain must not suffer from it.
      }
    }
  }
}
