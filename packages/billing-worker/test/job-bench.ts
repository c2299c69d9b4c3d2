/** Runs one job of this service without a queue: its payload checked, its context a plain object. */

import {
  type AnyJobDefinition,
  type ChildJob,
  checkPayload,
  type JobContext,
  type JobHandler,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import type { InvoiceKey } from "../invoice/invoice-store.ts";
import { billingJobs } from "../job-list.ts";
import type { ReceiptStore, StoreOutcome } from "../receipt/receipt-store.ts";
import type { RenderPool } from "../receipt/render-pool.ts";
import { MemoryInvoiceStore } from "./memory-invoice-store.ts";

const TENANT = "nordlicht";

/** How a job came. */
export interface Delivery {
  readonly jobId?: string;
  readonly receiveCount?: number;
}

export interface JobBench {
  readonly invoices: MemoryInvoiceStore;
  /** Written receipts, by invoice id. */
  readonly receipts: ReadonlyMap<string, Uint8Array>;
  /** Every child that was sent, in order. */
  readonly sent: readonly ChildJob[];
  /** Aborts the signal of every run. */
  abort(reason: Error): void;
  /** Makes `context.send` fail. */
  breakSending(): void;
  /**
   * What the handler returned, without the `done` around it. The job's id is the payload's event id,
   * when it has one.
   */
  run(type: string, payload: unknown, delivery?: Delivery): Promise<unknown>;
}

export function jobBench(render: RenderPool["render"]): JobBench {
  const invoices = new MemoryInvoiceStore();
  const receipts = new Map<string, Uint8Array>();
  const sent: ChildJob[] = [];
  const job = new AbortController();
  let canSend = true;
  const renderPool: RenderPool = { render, [Symbol.asyncDispose]: async () => {} };
  const jobs = billingJobs({
    ...{ invoices, receipts: receiptsIn(receipts), renderPool },
    payments: { charge: () => noProvider(), find: () => noProvider() },
  });
  const send: JobContext["send"] = async (name, child) => {
    if (!canSend) throw new Error("the queue is unreachable");
    sent.push(child);
    return { jobId: child.jobId ?? name, messageId: "m-1" };
  };
  return {
    invoices,
    receipts,
    sent,
    abort: (reason) => job.abort(reason),
    breakSending: () => {
      canSend = false;
    },
    run: (type, payload, { jobId = idIn(payload), receiveCount = 1 } = {}) =>
      runJob(jobs, type, payload, contextOf(jobId, job.signal, send, receiveCount)),
  };
}

function noProvider(): never {
  throw new Error("nothing is charged here");
}

function idIn(payload: unknown): string {
  return (payload as { readonly eventId?: string }).eventId ?? "job-1";
}

async function runJob(
  jobs: readonly AnyJobDefinition[],
  type: string,
  payload: unknown,
  context: JobContext,
): Promise<unknown> {
  const definition = jobs.find((one) => one.type === type);
  if (definition === undefined) throw new Error(`no job of type ${type}`);
  const check = await checkPayload(definition.schema, payload);
  if (check.kind === "invalid") throw new Error(check.problems.join("; "));
  const { tenantId, jobId, jobType } = context;
  const handler = definition.handler as JobHandler<unknown>;
  const job = { tenantId, jobId, jobType, payload: check.payload, createdAtMs: 0 };
  const answer = (await handler(job, context)) as { readonly result: unknown };
  return answer.result;
}

function contextOf(
  jobId: string,
  signal: AbortSignal,
  send: JobContext["send"],
  receiveCount: number,
): JobContext {
  const quiet = () => {};
  return {
    tenantId: parseTenantId(TENANT),
    jobId: parseJobId(jobId),
    jobType: parseJobType("test.job"),
    attempt: 1,
    receiveCount,
    message: { messageId: "m-1", queue: "billing-jobs", body: "", attributes: {}, sentAtMs: 0 },
    signal,
    draining: signal,
    lease: { remainingMs: () => 60_000, assertHeld: quiet },
    remainingMs: () => 60_000,
    once: () => Promise.reject(new Error("no effect is expected here")),
    checkpoint: { load: () => undefined, save: async () => undefined },
    send,
    done: (result) => ({ kind: "done", result }),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  };
}

function receiptsIn(receipts: Map<string, Uint8Array>): ReceiptStore {
  return {
    async put({ invoiceId }: InvoiceKey, pdf: Uint8Array): Promise<StoreOutcome> {
      receipts.set(invoiceId, pdf);
      return "stored";
    },
    find: async ({ invoiceId }) => receipts.get(invoiceId),
  };
}
