/** Waits, with a message that has been read and may not be worked yet, for the end of that wait. */

import type { Clock } from "@leasehold/clock";
import type { Lease, Turn } from "@leasehold/lease";
import { hear } from "./hear.ts";

/**
 * How a wait ended: as a turn does, or SQS lets the message be held no longer, patience was at an end,
 * or nothing may start.
 */
export type TurnEnd = Turn | "hold-limit" | "too-long" | "over";

/** What ends a wait before the turn has come. */
export interface TurnLimits {
  readonly clock: Clock;
  readonly lease: Lease;
  /** Aborts when the drain begins. */
  readonly draining: AbortSignal;
  /** How long to wait at most; without it as long as the message may be held. */
  readonly patienceMs?: number;
}

/** Waits for `turn`, and leaves no timer and no listener behind however that ends. */
export async function awaitTurn(
  turn: Promise<Turn>,
  { clock, lease, draining, patienceMs }: TurnLimits,
): Promise<TurnEnd> {
  const { promise: ended, resolve: end } = Promise.withResolvers<TurnEnd>();
  const stops = [
    clock.schedule(lease.holdRemainingMs(), () => end("hold-limit")),
    ...(patienceMs === undefined ? [] : [clock.schedule(patienceMs, () => end("too-long"))]),
    hear(lease.lost, () => end("over")),
    hear(draining, () => end("over")),
  ];
  void turn.then(end);
  const how = await ended;
  for (const stop of stops) stop();
  return how;
}

/** Waits for a time, within the same limits. */
export async function awaitTime(durationMs: number, limits: TurnLimits): Promise<TurnEnd> {
  const { promise, resolve } = Promise.withResolvers<Turn>();
  const cancel = limits.clock.schedule(durationMs, () => resolve("come"));
  const how = await awaitTurn(promise, limits);
  cancel();
  return how;
}
