/** A lease source on the model of SQS under a manual clock, and everything it reports. */

import { ManualClock } from "@leasehold/clock/manual";
import {
  type Lease,
  type LeaseEvent,
  type LeaseOptions,
  type LeaseQueue,
  type LeaseSource,
  openLeaseSource,
} from "@leasehold/lease";
import {
  type ModelCall,
  type ModelFault,
  type ModelLeaseQueue,
  type ModelLeaseQueueParts,
  modelLeaseQueue,
} from "../../../test/support/model-lease-queue.ts";
import { BlockableLoop, type FarEnd, type FarEndParts, startFarEnd } from "./near-and-far.ts";

/** What a test may choose; the rest is as in production, without jitter. */
export interface LeaseSetupOptions {
  readonly options?: LeaseOptions;
  readonly queue?: Omit<ModelLeaseQueueParts, "clock">;
  readonly onEvent?: (event: LeaseEvent) => void;
  /** Puts something of the test's own between the source and the model. */
  readonly between?: (queue: ModelLeaseQueue) => LeaseQueue;
  /** @defaultValue always 0 */
  readonly random?: () => number;
  /** Extends in a thread of its own, as far as a test can have one. @defaultValue inline */
  readonly thread?: Partial<Pick<FarEndParts, "maxBlockedMs" | "startsAfterMs">>;
}

/** A fresh bundle for one test. */
export interface LeaseSetup {
  readonly clock: ManualClock;
  /** The main thread, which a test may block. */
  readonly loop: BlockableLoop;
  /** Only with a `thread`. */
  readonly farEnd: FarEnd;
  readonly queue: ModelLeaseQueue;
  readonly source: LeaseSource;
  readonly events: readonly LeaseEvent[];
  /** Sends and claims this many messages, in order. */
  claim(count?: number): Promise<readonly Lease[]>;
  claimOne(): Promise<Lease>;
  /** The events of one kind. */
  heard<Kind extends LeaseEvent["kind"]>(kind: Kind): Extract<LeaseEvent, { kind: Kind }>[];
  /** When calls of one kind left. */
  sentAt(kind: ModelCall["kind"]): readonly number[];
  /** Lets the next calls of one kind meet these faults, in order. */
  failNext(kind: ModelCall["kind"], ...faults: readonly (ModelFault | undefined)[]): void;
}

/** Opens a source with `visibilityTimeoutMs` 60 s, an extension every 20 s, calls of 2 s at most. */
export async function setupLeases(chosen: LeaseSetupOptions = {}): Promise<LeaseSetup> {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock, ...chosen.queue });
  const events: LeaseEvent[] = [];
  const loop = new BlockableLoop(clock);
  const between = chosen.between?.(queue) ?? queue;
  const farEnd =
    chosen.thread &&
    startFarEnd({ maxBlockedMs: 60_000, ...chosen.thread, clock, loop, queue: between });
  const source = openLeaseSource({
    queue: between,
    clock: farEnd === undefined ? clock : loop,
    ...(farEnd !== undefined && { extenderThread: farEnd.thread }),
    ...(chosen.options !== undefined && { options: chosen.options }),
    onEvent: (event) => {
      events.push(event);
      chosen.onEvent?.(event);
    },
    random: chosen.random ?? (() => 0),
  });
  const claim = async (count = 1) => {
    for (let sent = 0; sent < count; sent += 1) await queue.send({ body: `job ${sent}` });
    const leases: Lease[] = [];
    while (leases.length < count) {
      const maxMessages = Math.min(10, count - leases.length);
      leases.push(...(await source.claim({ maxMessages, waitMs: 0 })));
    }
    return leases;
  };
  return {
    clock,
    loop,
    farEnd: farEnd as FarEnd,
    queue,
    source,
    events,
    claim,
    claimOne: async () => (await claim(1))[0] as Lease,
    heard: (kind) => events.filter((event) => event.kind === kind) as never,
    sentAt: (kind) => queue.calls.filter((call) => call.kind === kind).map(({ atMs }) => atMs),
    failNext: (kind, ...faults) => {
      const left = [...faults];
      queue.fault = (call) => (call.kind === kind ? left.shift() : undefined);
    },
  };
}
