/** A ledger with everything around it under control: clock, store, leases, provider. */

import { ManualClock } from "@leasehold/clock/manual";
import {
  type Effect,
  type JobIdentity,
  type JobOpening,
  type MessageCopy,
  type OpenJob,
  type OpenRequest,
  park,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { createLedger, type LedgerArguments, type LedgerEvent } from "../index.ts";
import { CountingStore } from "./counting-store.ts";

export const job: JobIdentity = {
  tenantId: parseTenantId("acme"),
  jobType: parseJobType("payment.capture"),
  jobId: parseJobId("invoice-7"),
};

export const message: MessageCopy = {
  queue: "jobs",
  body: '{"v":1}',
  attributes: {
    job_id: { dataType: "String", value: "invoice-7" },
    bytes: { dataType: "Binary", value: new Uint8Array([0, 255]) },
  },
  groupId: "acme",
};

/** The lease of one delivery, as a test wants it. */
export class TestLease {
  remainingMs = 60_000;
  drainMs: number | undefined;
  /** By how much `reach` can make it longer. */
  reachesMs = 600_000;
  readonly reached: number[] = [];
  readonly abort = new AbortController();
}

/** An effect that answers what it is told, and counts. */
export function effectOf(
  answer: (call: { readonly key: string; readonly attempt: number }) => unknown,
  more: Partial<Effect<unknown>> = {},
): Effect<unknown> & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    timeoutMs: 10_000,
    recover: park(),
    calls,
    run: async (call) => {
      calls.push(call.key);
      return await answer(call);
    },
    ...more,
  };
}

export function setup(args: Partial<LedgerArguments> = {}) {
  const clock = new ManualClock();
  const store = new CountingStore();
  const events: LedgerEvent[] = [];
  let last = 0;
  const ledgerOf = (workerId: string) =>
    createLedger({
      ...{ store, clock, environment: "test", workerId },
      onEvent: (event) => events.push(event),
      unique: () => `u${++last}`,
      random: () => 0,
      ...args,
    });
  const ledger = ledgerOf("w-1");
  const requestOf = (lease: TestLease, more: Partial<OpenRequest> = {}): OpenRequest => ({
    job,
    messageId: "m-1",
    receiveCount: 1,
    surroundings: {
      leaseUntilMs: () => clock.wallMs() + lease.remainingMs,
      leaseRemainingMs: () => lease.remainingMs,
      reach: async (forMs) => {
        lease.reached.push(forMs);
        lease.remainingMs = Math.max(lease.remainingMs, Math.min(forMs, lease.reachesMs));
        return lease.remainingMs >= forMs;
      },
      drainRemainingMs: () => lease.drainMs,
      signal: lease.abort.signal,
      copyMessage: () => message,
      createdAtMs: clock.wallMs(),
      payload: { amount: 7 },
    },
    ...more,
  });
  /** Opens the job and says what it is, when it is not open. */
  const open = async (more: Partial<OpenRequest> = {}, lease = new TestLease(), by = ledger) => {
    const opening = await by.open(requestOf(lease, more));
    return { opening, lease, job: isOpen(opening) };
  };
  const kinds = () => events.map(({ kind }) => kind);
  return { clock, store, events, kinds, ledger, ledgerOf, requestOf, open };
}

function isOpen(opening: JobOpening): OpenJob {
  if (opening.kind === "open") return opening;
  // Only used where a test expects it open; the opening itself is there for the others.
  return new Proxy({} as OpenJob, {
    get: () => {
      throw new Error(`the job is ${opening.kind}, not open`);
    },
  });
}

/** What a promise was rejected with. */
export async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    (value) => {
      throw new Error(`was not rejected, but gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
