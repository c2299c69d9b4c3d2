/** Everything that an invocation reports. */

import type { LedgerEvent } from "@leasehold/job";
import type { JobEvent } from "@leasehold/job-run";
import type { LeaseEvent, LeaseRef } from "@leasehold/lease";

/** What leases, runs, the job ledger and the invocation itself report; never a payload. */
export type LambdaEvent =
  | LeaseEvent
  | JobEvent
  | LedgerEvent
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
      readonly remainingMs: number;
    };
