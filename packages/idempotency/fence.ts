/** Who may write to a record: the opening that its epoch was given to. Pure. */

import type { JobIdentity } from "@leasehold/job";
import type { WriteCondition } from "./ledger-store.ts";

/** Who may write: the opening that this epoch was given to. */
export interface Fence {
  readonly job: JobIdentity;
  readonly epoch: number;
  readonly owner: string;
}

/** What must hold for an opening to write. */
export function fenced({
  epoch,
  owner,
}: Fence): Pick<WriteCondition, "epoch" | "owner" | "states"> {
  return { epoch, owner, states: ["open"] };
}
