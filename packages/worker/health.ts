/** Whether this worker is ready and alive, and if not, why. Pure. */

import type { WorkerPhase } from "./worker-event.ts";

/** What the probes ask. */
export interface Health {
  readonly ready: boolean;
  readonly alive: boolean;
  /** Why not, and why nothing is claimed although both are true; otherwise empty. */
  readonly reasons: readonly string[];
}

/**
 * Ready while it claims or could: false while booting and from the first tick of a drain. Alive
 * unless a queue's claims are stuck: an outage, a pause, full slots and the whole drain are no
 * reason to be killed.
 */
export function judgeHealth(
  phase: WorkerPhase,
  stalls: readonly string[],
  outage?: string,
): Health {
  const ready = phase === "ready" || phase === "paused";
  const isClaiming = phase === "booting" || ready;
  const alive = phase !== "exited" && !(isClaiming && stalls.length > 0);
  const waits = isClaiming && outage !== undefined ? [outage] : [];
  const reasons = [
    ...(ready ? [] : [`the worker is ${phase}`]),
    ...(isClaiming ? stalls : []),
    ...waits,
  ];
  return { ready, alive, reasons };
}
