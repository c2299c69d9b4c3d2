/** What the runs of one queue are given of their worker. */

import type { WorkerTimings } from "@leasehold/deployment-contract";
import type { RunParts } from "@leasehold/job-run";
import type { ClaimLoop } from "./claim-loop.ts";
import type { Drain } from "./drain.ts";
import { openPollDelayMs } from "./drain-plan.ts";
import type { StartGate } from "./start-gate.ts";
import { countingOf } from "./timings-use.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** What it is made of. */
export interface RunWiringParts {
  readonly worker: WorkerParts;
  readonly timings: WorkerTimings;
  readonly gate: StartGate;
  readonly loop: ClaimLoop;
  readonly draining: AbortSignal;
  /** The drain, once it has begun. */
  readonly drain: () => Drain | undefined;
  readonly onEvent: RunParts["onEvent"];
}

/** The parts of every run of one queue. */
export function wireRuns(parts: RunWiringParts): RunParts {
  const { worker, timings, gate, loop, draining, drain, onEvent } = parts;
  const { clock, jobs, sender, payloadStore, readers, random = Math.random } = worker;
  return {
    ...{ clock, random, draining, onEvent },
    ...countingOf(timings, worker),
    ...(sender === undefined ? {} : { sender }),
    ...(payloadStore === undefined ? {} : { payloadStore }),
    ...(readers === undefined ? {} : { readers }),
    jobs: new Map(jobs.map((definition) => [definition.type, definition])),
    turn: (lease, job) => gate.turn(lease, job),
    rest: (lease) => gate.rest(lease),
    turnAlone: (lease) => gate.turnAlone(lease),
    drainByMs: () => drain()?.drainByMs,
    // In a drain, what comes back too soon would be taken by a poll that is still open.
    shortestDelayMs: () => {
      const mustHide = drain() !== undefined && loop.openPolls > 0;
      return mustHide ? openPollDelayMs(loop.pollRestMs) : 0;
    },
    giveBack: (lease, delayMs, releaseClass) =>
      drain()?.giveBack(lease, delayMs, releaseClass) ?? lease.release(delayMs, releaseClass),
  };
}
