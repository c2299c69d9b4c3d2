/** One worker of a simulated fleet: the production worker and ledger in a process that can be stopped. */

import { defineContract } from "@leasehold/deployment-contract";
import { createLedger, type LedgerStore } from "@leasehold/idempotency";
import { defineJob, type Job, type JobContext } from "@leasehold/job";
import type { LeaseQueue } from "@leasehold/lease";
import {
  createWorker,
  type ShutdownReport,
  type Worker,
  type WorkerEvent,
} from "@leasehold/worker";
import { z } from "zod";
import type { Chance } from "../support/sim/chance.ts";
import type { SimProcess } from "../support/sim/sim-process.ts";

/** What runs a job. */
export type FleetHandler = (job: Job<{ n: number }>, context: JobContext) => Promise<unknown>;

/** What one worker is made of. */
export interface FleetWorkerParts {
  readonly process: SimProcess;
  /** As this process reaches it. */
  readonly queue: LeaseQueue;
  readonly store: LedgerStore;
  readonly chance: Chance;
  readonly concurrency: number;
  readonly visibilityMs: number;
  readonly handler: FleetHandler;
  readonly onEvent: (event: WorkerEvent) => void;
}

/** Types of jobs: as they come, recorded before each run, and with checkpoints. */
export const JOB_TYPES = ["sim.plain", "sim.guarded", "sim.saving"] as const;

/** How long a job of an unknown type waits for a worker that knows it. */
export const UNKNOWN_GRACE_MS = 120_000;

const schema = z.object({ n: z.number() });

/** A worker that has started. */
export class FleetWorker {
  readonly process: SimProcess;
  readonly #worker: Worker;

  constructor(parts: FleetWorkerParts) {
    const { process, queue, store, chance, handler, onEvent } = parts;
    this.process = process;
    let uniques = 0;
    const random = () => chance.next();
    const ledger = createLedger({
      ...{ store, clock: process, environment: "sim", workerId: process.name, random },
      unique: () => {
        uniques += 1;
        return `${process.name}-${uniques}`;
      },
      options: { settleMs: 5_000, ledgerSkewMs: 2_000, circuitLongestPauseMs: 20_000 },
    });
    const jobs = JOB_TYPES.map((type) =>
      defineJob({
        ...{ type, schema, handler, timeoutMs: 90_000 },
        ...(type === "sim.guarded" && { guard: true }),
        ...(type === "sim.saving" && { checkpoints: true }),
      }),
    );
    this.#worker = createWorker({
      contract: contractOf(queue.name, parts),
      ...{ jobs, queues: [queue], clock: process, random, ledger },
    });
    this.#worker.onEvent((event) => {
      if (!process.isDead) onEvent(event);
    });
    void this.#worker.start();
  }

  get isDraining(): boolean {
    const { phase } = this.#worker.snapshot();
    return phase !== "ready" && phase !== "booting" && phase !== "paused";
  }

  /** Resolves with its report once it has exited; never, when it is killed. */
  get ended(): Promise<ShutdownReport> {
    return this.#worker.ended;
  }

  signal(): void {
    this.process.enter(() => void this.#worker.signal("SIGTERM"));
  }
}

function contractOf(
  queue: string,
  { concurrency, visibilityMs }: Pick<FleetWorkerParts, "concurrency" | "visibilityMs">,
) {
  return defineContract({
    preset: "drill",
    service: "sim",
    queues: [{ name: queue, maxReceiveCount: 1_000 }],
    lease: { visibilityTimeoutMs: visibilityMs },
    ledger: { kind: "dynamodb", ledgerSkewMs: 2_000, settleMs: 5_000 },
    worker: {
      ...{ concurrency, maxAttempts: 30, interruptionBudget: 100 },
      ...{ backoffBaseMs: 1_000, backoffCapMs: 8_000, unknownTypeGraceMs: UNKNOWN_GRACE_MS },
    },
  });
}
