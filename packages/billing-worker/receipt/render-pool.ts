/** Threads that render, so that the main thread extends leases meanwhile. */

import { extname } from "node:path";
import { Piscina } from "piscina";
import type { PaidInvoice } from "../invoice/invoice.ts";
import type { RenderTask } from "./receipt-pdf-thread.ts";

/** `.ts` when run from source, `.js` when run from a build. */
const THREAD_FILE = `./receipt-pdf-thread${extname(import.meta.filename)}`;

/** Renders receipts beside the main thread. */
export interface RenderPool extends AsyncDisposable {
  /**
   * The receipt as a PDF. An abort throws at once: a render that waits is forgotten, one that runs
   * ends with its thread, since nothing else stops a computation.
   */
  render(invoice: PaidInvoice, signal: AbortSignal): Promise<Uint8Array>;
}

/** How a pool renders. */
export interface RenderPoolOptions {
  /** Renders at once; more wait for their turn. */
  readonly threads: number;
  /** For trials: how long each render takes at least. */
  readonly atLeastMs: number;
}

/** Starts a pool with one thread; the others start when there is work for them. */
export function startRenderPool({ threads, atLeastMs }: RenderPoolOptions): RenderPool {
  const pool = new Piscina<RenderTask, Uint8Array>({
    filename: new URL(THREAD_FILE, import.meta.url).href,
    minThreads: 1,
    maxThreads: threads,
  });
  return {
    async render(invoice, signal) {
      signal.throwIfAborted();
      try {
        return await pool.run({ invoice, atLeastMs }, { signal });
      } catch (error) {
        // The reason says why the job must stop; the pool only says that something was aborted.
        signal.throwIfAborted();
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}
