/** A queue, a function on it and what the function said; what the tests of this package share. */

import { ManualClock } from "@leasehold/clock/manual";
import { createLedger, MemoryLedgerStore } from "@leasehold/idempotency";
import { type AnyJobDefinition, defineJob } from "@leasehold/job";
import { z } from "zod";
import {
  type InvocationEnd,
  LambdaPoller,
  type PollerParts,
} from "../../../test/support/lambda-poller.ts";
import { type ModelLeaseQueue, modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { message, type TestHandler } from "../../../test/support/worker-world.ts";
import { type LambdaEvent, type LambdaParts, lambdaHandler, type SqsEvent } from "../index.ts";

/** What differs from one test to the next. */
export interface SiteOptions extends LambdaParts {
  readonly handler?: TestHandler;
  readonly jobs?: readonly AnyJobDefinition[];
  readonly queueName?: string;
  readonly poller?: Partial<PollerParts>;
  /** Whether the function can call its queue. @defaultValue true */
  readonly isConnected?: boolean;
  /** @defaultValue false */
  readonly hasLedger?: boolean;
}

export interface LambdaSite {
  readonly clock: ManualClock;
  readonly queue: ModelLeaseQueue;
  readonly poller: LambdaPoller;
  readonly handler: ReturnType<typeof lambdaHandler>;
  readonly events: readonly LambdaEvent[];
  readonly store: MemoryLedgerStore;
  heard<Kind extends LambdaEvent["kind"]>(kind: Kind): Extract<LambdaEvent, { kind: Kind }>[];
  /** Sends jobs by their numbers; resolves with their message ids. */
  send(...numbers: readonly number[]): Promise<readonly string[]>;
  sendTo(groupId: string, ...numbers: readonly number[]): Promise<readonly string[]>;
  /** One invocation with whatever is visible now, moved on by `forMs`. */
  invoke(forMs?: number, event?: SqsEvent): Promise<InvocationEnd>;
}

/** A job of type `test.work` whose payload is a number. */
export function workJob(handler: TestHandler, more: Partial<AnyJobDefinition> = {}) {
  return defineJob({ type: "test.work", schema: z.object({ n: z.number() }), handler, ...more });
}

export async function openSite(options: SiteOptions = {}): Promise<LambdaSite> {
  const { handler: work = () => undefined, jobs, queueName = "jobs", poller, ...rest } = options;
  const { isConnected = true, hasLedger = false, ...parts } = rest;
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock, name: queueName });
  const mapping = new LambdaPoller({ clock, queue, ...poller });
  const events: LambdaEvent[] = [];
  const store = new MemoryLedgerStore();
  const openLedger = ({ requestId: workerId }: { readonly requestId: string }) =>
    createLedger({ store, clock, environment: "test", workerId, random: () => 0.5 });
  const handler = lambdaHandler(jobs ?? [workJob(work)], {
    ...{ clock, random: () => 0.5, onEvent: (event) => events.push(event) },
    ...(isConnected && { queues: [queue] }),
    ...(hasLedger && { openLedger }),
    ...parts,
  });
  return {
    ...{ clock, queue, poller: mapping, handler, events, store },
    heard: (kind) => events.filter((event) => event.kind === kind) as never,
    send: (...numbers) => Promise.all(numbers.map((n) => queue.send(message(n)))),
    sendTo: async (groupId, ...numbers) => {
      const ids: string[] = [];
      for (const n of numbers) {
        ids.push(await queue.send({ ...message(n), groupId, deduplicationId: `${n}` }));
      }
      return ids;
    },
    invoke: async (forMs = 1_000, event) => {
      const ended = mapping.invoke(handler, event ?? (await mapping.take()));
      await clock.advance(forMs);
      return await ended;
    },
  };
}
