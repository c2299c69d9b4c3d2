/** Liveness and readiness. */

import type { WorkerSnapshot } from "@leasehold/worker";
import { type Answer, json } from "./answer.ts";

/**
 * Whether this process should go on living: 200 through the whole drain, 503 only when nothing but a
 * new process helps.
 */
export function liveness({ phase, health }: WorkerSnapshot): Answer {
  return json(health.alive ? 200 : 503, { alive: health.alive, phase, reasons: health.reasons });
}

/** Whether this worker claims: 503 until it is ready, while it pauses, and from the first tick of a drain. */
export function readiness({ phase, health }: WorkerSnapshot): Answer {
  return json(health.ready ? 200 : 503, { ready: health.ready, phase, reasons: health.reasons });
}
