/** The service in Lambda, wired from the same configuration as the worker. */

import { lambdaHandler, type SqsLambdaHandler } from "@leasehold/middy";
import { openLambdaService } from "leasehold";
import { billingWorker } from "./billing-worker.ts";
import type { BillingConfig } from "./config.ts";

/** One sandbox of the function. */
export interface BillingLambda {
  readonly handler: SqsLambdaHandler;
  /** Ends threads and sockets. A sandbox needs it not, a test does. */
  close(): Promise<void>;
}

/**
 * The jobs of this service as one function for its queue.
 *
 * A charge may take twenty seconds, so the function's timeout is to be longer than that, and five
 * seconds more in which no job starts.
 *
 * @throws QueueLookUpError, LedgerTableError, or what a table that is missing throws
 */
export async function billingLambda(config: BillingConfig): Promise<BillingLambda> {
  const parts = await billingWorker(config);
  const service = await openLambdaService(parts);
  return {
    handler: lambdaHandler(parts.jobs, service.wiring),
    close: async () => {
      service.close();
      await parts.dispose?.();
    },
  };
}
