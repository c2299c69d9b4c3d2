/** The word under which an event is counted. Pure. */

import type { WorkerEvent } from "@leasehold/worker";

/** Its kind, and what tells it from others of that kind. */
export function wordFor(event: WorkerEvent): string {
  switch (event.kind) {
    case "worker.phase":
      return `phase ${event.phase}`;
    case "job.ended":
      return `job.ended ${event.outcome}`;
    case "job.stopped":
      return `job.stopped ${event.why}`;
    case "lease.released":
      return `lease.released ${event.class}`;
    case "lease.lost":
      return `lease.lost ${event.cause}`;
    case "lease.lapsing":
      return `lease.lapsing ${event.during}`;
    case "effect.taken-over":
      return `effect.taken-over ${event.policy}`;
    default:
      return event.kind;
  }
}
