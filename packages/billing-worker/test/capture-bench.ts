/** `payment.capture` by its deliveries: a real ledger, a real provider over HTTP, no queue. */

import { createLedger, MemoryLedgerStore } from "@leasehold/idempotency";
import {
  type ChildJob,
  checkPayload,
  type EndAnswer,
  type JobContext,
  type JobIdentity,
  type OpenJob,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { type CapturePaymentPayload, captureJob, capturePayment } from "../jobs/capture-payment.ts";
import type { ChargeRecovery } from "../payment/charge-effect.ts";
import type { FaultRule } from "../payment/payment-sandbox.ts";
import { MemoryInvoiceStore } from "./memory-invoice-store.ts";
import { startPaymentSite } from "./payment-site.ts";
import { issued } from "./sample-invoice.ts";

export const invoiceKey = { tenantId: "nordlicht", invoiceId: "INV-7" };

/** What became of one delivery. */
export type Delivered =
  | { readonly kind: "returned"; readonly result: unknown; readonly recorded: EndAnswer }
  | { readonly kind: "threw"; readonly error: unknown; readonly outcome: string | undefined }
  /** The ledger let no handler run. */
  | { readonly kind: "turned-away"; readonly why: string };

/** How one delivery differs from an ordinary one. */
interface DeliveryChange {
  readonly payload?: Partial<CapturePaymentPayload>;
  readonly jobId?: string;
  /** The worker dies there: nothing after it is recorded. */
  readonly diesAt?: "after the charge" | "before the receipt";
}

interface BenchOptions {
  readonly chargeRecovery?: ChargeRecovery;
  /** Every delivery comes to the same process. @defaultValue false: each to another one */
  readonly isOneWorker?: boolean;
}

export async function captureBench(
  faults: readonly FaultRule[] = [],
  { chargeRecovery, isOneWorker = false }: BenchOptions = {},
) {
  const site = await startPaymentSite({ faults });
  const { clock, provider } = site;
  const invoices = new MemoryInvoiceStore();
  const store = new MemoryLedgerStore();
  const sent: ChildJob[] = [];
  const logged: { readonly message: string; readonly fields: unknown }[] = [];
  const definition = capturePayment({
    ...{ invoices, payments: provider },
    ...(chargeRecovery === undefined ? {} : { chargeRecovery }),
  });
  const ledgerOf = (workerId: string) =>
    createLedger({ ...{ store, clock, environment: "test", workerId, random: () => 0 } });
  const first = ledgerOf("w-1");
  let deliveries = 0;
  const deliver = async (change: DeliveryChange = {}): Promise<Delivered> => {
    deliveries += 1;
    const child = captureJob({ invoiceId: "INV-7", version: 1 }, { paymentMethod: "pm_card_visa" });
    const given = { ...(child.payload as CapturePaymentPayload), ...change.payload };
    const check = await checkPayload(definition.schema, given);
    if (check.kind === "invalid") throw new Error(check.problems.join("; "));
    const job = identityOf(change.jobId ?? child.jobId);
    const ledger = isOneWorker ? first : ledgerOf(`w-${deliveries}`);
    const lease = new AbortController();
    const createdAtMs = Date.UTC(2026, 0, 1);
    const opening = await ledger.open({
      ...{ job, messageId: "m-1", receiveCount: deliveries },
      surroundings: {
        leaseUntilMs: () => clock.wallMs() + 30_000,
        leaseRemainingMs: () => 30_000,
        reach: async () => true,
        drainRemainingMs: () => undefined,
        signal: lease.signal,
        copyMessage: () => ({ queue: "billing-jobs", body: "{}", attributes: {} }),
        createdAtMs,
        payload: given,
      },
    });
    if (opening.kind !== "open") return { kind: "turned-away", why: opening.kind };
    const context = contextOf(job, opening, { sent, logged, receiveCount: deliveries, ...change });
    try {
      const answer = await definition.handler(
        { ...job, payload: check.payload as CapturePaymentPayload, createdAtMs },
        context,
      );
      const recorded = await opening.end({ kind: "succeeded" });
      return {
        kind: "returned",
        result: (answer as { readonly result: unknown }).result,
        recorded,
      };
    } catch (error) {
      const isDead = error instanceof Error && error.message === DEATH;
      if (!isDead) await opening.end(endingOf(error));
      return { kind: "threw", error, outcome: opening.outcome?.kind };
    }
  };
  const record = () => store.read(identityOf("capture-INV-7-1"));
  await invoices.issue(issued());
  return { ...site, invoices, store, sent, logged, deliver, record };
}

const DEATH = "the worker is gone";

function endingOf(error: unknown) {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  if (code !== "PERMANENT_JOB_FAILURE") return { kind: "failed" } as const;
  return { kind: "given-up", reason: { code: "handler-refused", detail: message } } as const;
}

function identityOf(jobId: string): JobIdentity {
  return {
    tenantId: parseTenantId("nordlicht"),
    jobType: parseJobType("payment.capture"),
    jobId: parseJobId(jobId),
  };
}

interface Heard {
  readonly sent: ChildJob[];
  readonly logged: { readonly message: string; readonly fields: unknown }[];
  readonly receiveCount: number;
  readonly diesAt?: DeliveryChange["diesAt"];
}

function contextOf(job: JobIdentity, opened: OpenJob, heard: Heard): JobContext {
  const { sent, logged, receiveCount, diesAt } = heard;
  const signal = new AbortController().signal;
  const quiet = () => {};
  const log = (message: string, fields: unknown) => void logged.push({ message, fields });
  return {
    ...job,
    ...{ attempt: 1, receiveCount, signal, draining: signal },
    message: { messageId: "m-1", queue: "billing-jobs", body: "", attributes: {}, sentAtMs: 0 },
    lease: { remainingMs: () => 30_000, assertHeld: quiet },
    remainingMs: () => 30_000,
    once: async (name, input, effect) => {
      const stored = await opened.once(name, input, effect);
      if (diesAt === "after the charge") throw new Error(DEATH);
      return stored;
    },
    checkpoint: opened.checkpoint,
    send: async (name, child) => {
      if (diesAt === "before the receipt") throw new Error(DEATH);
      sent.push(child);
      return { jobId: child.jobId ?? name, messageId: "m-2" };
    },
    done: (result) => ({ kind: "done", result }),
    log: { debug: quiet, info: quiet, warn: log, error: log },
  };
}
