/** A whole worker under the manual clock, on the model queue; what tests of workers share. */

import { ManualClock } from "@leasehold/clock/manual";
import { type ContractInput, defineContract } from "@leasehold/deployment-contract";
import {
  type AnyJobDefinition,
  type AttemptLedger,
  type Job,
  type JobContext,
  type JobDefinition,
  type JobSender,
  parseJobId,
  parseJobType,
  parseTenantId,
  type WorkerLedger,
  writeEnvelope,
} from "@leasehold/job";
import type { LeaseQueue } from "@leasehold/lease";
import {
  createWorker,
  type MemoryUse,
  type Worker,
  type WorkerEvent,
  type WorkerOptions,
} from "@leasehold/worker";
import { z } from "zod";
import {
  type ModelLeaseQueue,
  type ModelLeaseQueueParts,
  type ModelMessage,
  modelLeaseQueue,
} from "./model-lease-queue.ts";

/** What a handler of a test is given: the payload says which job it is. */
export type TestHandler = (job: Job<{ n: number }>, context: JobContext) => unknown;

/** What differs from one test to the next. */
export interface WorldOptions {
  /** @defaultValue one of its own; give it to an account that the test makes itself */
  readonly clock?: ManualClock;
  readonly handler?: TestHandler;
  /** @defaultValue `test.work` with the handler */
  readonly jobs?: readonly AnyJobDefinition[];
  readonly contract?: Partial<ContractInput>;
  readonly queue?: Partial<ModelLeaseQueueParts>;
  readonly options?: WorkerOptions;
  readonly sender?: JobSender;
  readonly memoryUse?: () => MemoryUse | undefined;
  /** Shared by all workers of the world. */
  readonly attemptLedger?: AttemptLedger;
  /** Of one worker each; a ledger lives as long as its process. */
  readonly ledger?: (clock: ManualClock) => WorkerLedger;
  /** Puts something between the first worker and the queue. */
  readonly wrapQueue?: (queue: LeaseQueue) => LeaseQueue;
  /** Of `test.work`. */
  readonly guard?: boolean;
  readonly checkpoints?: boolean;
  /** What `random` answers. */
  readonly random?: number;
  readonly timeoutMs?: number;
}

/** A worker, its queue, and all that it said. */
export interface World {
  readonly clock: ManualClock;
  readonly queue: ModelLeaseQueue;
  readonly worker: Worker;
  readonly events: WorkerEvent[];
  /** The events of one kind. */
  heard<Kind extends WorkerEvent["kind"]>(kind: Kind): Extract<WorkerEvent, { kind: Kind }>[];
  /** Sends jobs numbered from `first`; resolves with their message ids. */
  send(count?: number, first?: number): Promise<readonly string[]>;
  /** FIFO: sends jobs to one group, in order. */
  sendTo(groupId: string, ...numbers: readonly number[]): Promise<readonly string[]>;
  /** A second worker on the same queue, or on what stands before it. */
  another(
    handler: TestHandler,
    queue?: LeaseQueue,
  ): { readonly worker: Worker; readonly events: WorkerEvent[] };
}

/** Numbers of the preset `drill`: grace 14 s, wait 2 s, drain 8 s, abort 1 s, release 2 s, flush 1 s. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? new ManualClock();
  const queue = await modelLeaseQueue({ clock, callTimeoutMs: 1_000, ...options.queue });
  const make = (handler: TestHandler, workedQueue: LeaseQueue = queue) => {
    const events: WorkerEvent[] = [];
    const worker = makeWorker({ ...options, handler }, clock, workedQueue);
    worker.onEvent((event) => events.push(event));
    return { worker, events };
  };
  const { wrapQueue = (whole: LeaseQueue) => whole } = options;
  const { worker, events } = make(options.handler ?? (() => undefined), wrapQueue(queue));
  return {
    clock,
    queue,
    worker,
    events,
    heard: (kind) => events.filter((event) => event.kind === kind) as never,
    send: (count = 1, first = 1) =>
      Promise.all(Array.from({ length: count }, (_, index) => queue.send(message(first + index)))),
    sendTo: async (groupId, ...numbers) => {
      const ids: string[] = [];
      for (const n of numbers) {
        ids.push(await queue.send({ ...message(n), groupId, deduplicationId: `${n}` }));
      }
      return ids;
    },
    another: make,
  };
}

/** A job as a message, of type `test.work` and the tenant `acme` unless told otherwise. */
export function message(
  n: number,
  clockMs: number = Date.UTC(2026, 0, 1),
  {
    tenant = "acme",
    type = "test.work",
  }: { readonly tenant?: string; readonly type?: string } = {},
): ModelMessage {
  const { body, attributes } = writeEnvelope({
    tenantId: parseTenantId(tenant),
    jobId: parseJobId(`job-${n}`),
    jobType: parseJobType(type),
    payload: { n },
    createdAtMs: clockMs,
  });
  return { body, attributes };
}

function makeWorker(world: WorldOptions, clock: ManualClock, queue: LeaseQueue): Worker {
  const { handler = () => undefined, jobs, contract, options } = world;
  const { sender, memoryUse, attemptLedger, ledger, random = 0.5, timeoutMs } = world;
  const { guard, checkpoints } = world;
  const job: JobDefinition<string, { n: number }, { n: number }> = {
    type: "test.work",
    schema: z.object({ n: z.number() }),
    handler,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(guard === undefined ? {} : { guard }),
    ...(checkpoints === undefined ? {} : { checkpoints }),
  };
  return createWorker({
    contract: defineContract({
      preset: "drill",
      service: "test",
      queues: [{ name: queue.name }],
      ...contract,
    }),
    jobs: jobs ?? [job],
    queues: [queue],
    clock,
    random: () => random,
    ...(options === undefined ? {} : { options }),
    ...(sender === undefined ? {} : { sender }),
    ...(attemptLedger === undefined ? {} : { attemptLedger }),
    ...(ledger === undefined ? {} : { ledger: ledger(clock) }),
    ...(memoryUse === undefined ? {} : { memoryUse }),
  });
}
