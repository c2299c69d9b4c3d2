/** Every case from the field, by the table that it belongs to. */

import { claimingCases } from "./claiming-cases.ts";
import type { FieldCase } from "./field-case.ts";
import { idempotencyCases } from "./idempotency-cases.ts";
import { lambdaCases } from "./lambda-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { platformCases } from "./platform-cases.ts";
import { shutdownCases } from "./shutdown-cases.ts";

/** The tables, by their titles. */
export const caseTables: Readonly<Record<string, readonly FieldCase[]>> = {
  "Shutdown against receive": shutdownCases,
  "Extending and losing the lease": leaseCases,
  "Claiming, acking, order": claimingCases,
  Idempotency: idempotencyCases,
  "Lambda and middy": lambdaCases,
  Platform: platformCases,
};
