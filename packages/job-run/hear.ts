/** Listens to an abort that may have come before. */

/** Calls `run` when the signal aborts, or soon when it has; returns how to stop listening. */
export function hear(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) queueMicrotask(run);
  else signal.addEventListener("abort", run, { once: true });
  return () => signal.removeEventListener("abort", run);
}
