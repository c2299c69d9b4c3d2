/** Everything that an invocation reports. */

import type { JobIdentity, LedgerEvent } from "@leasehold/job";
import { describeThrown, type ErrorInfo, type JobEvent } from "@leasehold/job-run";
import type { LeaseEvent, LeaseRef } from "@leasehold/lease";

type StoreFailing = Extract<LedgerEvent, { readonly kind: "ledger.store-failing" }>;

/** What leases, runs, the job ledger and the invocation itself report, as a worker does; never a payload. */
export type LambdaEvent =
  /** With the job that the message turned out to be, as soon as that is known. */
  | (LeaseEvent & { readonly job?: JobIdentity })
  | JobEvent
  | Exclude<LedgerEvent, StoreFailing>
  | (Omit<StoreFailing, "error"> & { readonly error: ErrorInfo })
  /** Its visibility could not be made to last for the invocation, so it is not run here. */
  | { readonly kind: "lambda.not-held"; readonly lease: LeaseRef; readonly code: string }
  /** The answer leaves; jobs whose handlers ignored their signal may still run. */
  | {
      readonly kind: "lambda.answered";
      readonly requestId: string;
      readonly queue: string;
      readonly messages: number;
      readonly failures: number;
      readonly stillRunning: number;
      /** Of the invocation. */
      readonly timeLeftMs: number;
    };

/** An event of the ledger, with what its store threw as plain words. */
export function ledgerEvent(event: LedgerEvent): LambdaEvent {
  if (event.kind !== "ledger.store-failing") return event;
  return { ...event, error: describeThrown(event.error) };
}
