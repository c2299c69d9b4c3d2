/** Whether this worker is ready and alive, and if not, why. Pure. */

import type { WorkerPhase } from "./worker-event.ts";

/** What the probes ask. */
export interface Health {
  readonly ready: boolean;
  readonly alive: boolean;
  /** Why not; empty when both are true. */
  readonly reasons: readonly string[];
}

/**
 * Ready while it claims or could: false while booting and from the first tick of a drain. Alive
 * unless a queue's claims are stuck: an outage, a pause, full slots and the whole drain are no
 * reason to be killed.
 */
export function judgeHealth(phase: WorkerPhase, stalls: readonly string[]): Health {
  const ready = phase === "ready" || phase === "paused";
  const isClaiming = phase === "booting" || ready;
  const alive = phase !== "exited" && !(isClaiming && stalls.length > 0);
  const reasons = [...(ready ? [] : [`the worker is ${phase}`]), ...(isClaiming ? stalls : [])];
  return { ready, alive, reasons };
}
