/** The run that effects happen in, as the job ledger sees it: its lease, its drain, its message. */

import type { EffectSurroundings, MessageCopy, RawJob } from "@leasehold/job";
import type { Lease } from "@leasehold/lease";
import type { RunParts } from "./run-parts.ts";

/** What the surroundings are made of. */
export interface SurroundingsParts {
  readonly lease: Lease;
  /** As it came: what its schema makes of it may be no JSON. */
  readonly raw: RawJob;
  /** The handler's signal. */
  readonly signal: AbortSignal;
  readonly run: Pick<RunParts, "clock" | "drainByMs">;
}

/** The surroundings of one run. */
export function surroundingsOf({ lease, raw, signal, run }: SurroundingsParts): EffectSurroundings {
  const { clock, drainByMs } = run;
  return {
    signal,
    createdAtMs: raw.createdAtMs,
    payload: raw.payload,
    leaseUntilMs: () => clock.wallMs() + lease.remainingMs(),
    leaseRemainingMs: () => lease.remainingMs(),
    reach: (forMs) => lease.reach(forMs),
    drainRemainingMs: () => {
      const untilMs = drainByMs();
      return untilMs === undefined ? undefined : Math.max(0, untilMs - clock.monotonicMs());
    },
    copyMessage: () => copyOf(lease),
  };
}

function copyOf({ ref, message }: Lease): MessageCopy {
  const { body, attributes, groupId, deduplicationId, traceHeader } = message;
  return {
    ...{ queue: ref.queue, body, attributes },
    ...(groupId !== undefined && { groupId }),
    ...(deduplicationId !== undefined && { deduplicationId }),
    ...(traceHeader !== undefined && { traceHeader }),
  };
}
