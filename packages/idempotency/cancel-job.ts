/** Cancels a job for an operator, whether it has a record or not. */

import { randomUUID } from "node:crypto";
import type { Clock } from "@leasehold/clock";
import type { GivenUp, JobIdentity } from "@leasehold/job";
import { ResolveRefusedError } from "./errors.ts";
import { type JobRecord, openEffects } from "./ledger-record.ts";
import type { LedgerStore, LedgerWrite } from "./ledger-store.ts";
import { cancelNew } from "./opening-writes.ts";
import { cancel, expireCancelled } from "./operator-writes.ts";

/** What became of a cancellation. */
export type Cancelled =
  | {
      readonly kind: "cancelled";
      /** Effects that may have happened all the same; they may still complete. */
      readonly openEffects: readonly string[];
    }
  /** It was done before. */
  | { readonly kind: "done" };

/** What cancelling needs. */
export interface CancelArguments {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** How long the record is kept. */
  readonly retentionMs: number;
}

/** Each try has lost against the job's worker. */
const MOST_TRIES = 8;

/**
 * Cancels a job: nothing of it is started afterwards. A worker that has it hears of it with its next
 * write or extension. What was started may still complete, and is recorded.
 *
 * @param reason - a few words and who says so; kept in the record
 * @throws ResolveRefusedError when the job changed each time
 * @throws StoreUnavailableError
 */
export async function cancelJob(
  { store, clock, retentionMs }: CancelArguments,
  job: JobIdentity,
  reason: string,
): Promise<Cancelled> {
  const why: GivenUp = { code: "cancelled", detail: reason };
  const expiresAtMs = Math.ceil((clock.wallMs() + retentionMs) / 1_000) * 1_000;
  let seen = await store.read(job);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (seen?.state === "done") return { kind: "done" };
    if (seen?.state === "cancelled") return await expire(store, seen, expiresAtMs);
    const write =
      seen === undefined ? newRecord(job, why, clock.wallMs()) : cancel(seen, why, clock.wallMs());
    const answer = await store.write(write);
    seen = answer.record;
    if (answer.kind === "applied" && seen !== undefined) {
      return await expire(store, seen, expiresAtMs);
    }
  }
  throw new ResolveRefusedError(`job ${job.jobId} changes too often: try again`);
}

/** Nothing can be started any more, so what is closed now stays closed. */
async function expire(
  store: LedgerStore,
  cancelled: JobRecord,
  expiresAtMs: number,
): Promise<Cancelled> {
  const open = openEffects(cancelled);
  const isKept = Object.values(cancelled.effects).some(({ tombstone }) => tombstone);
  if (open.length === 0 && !isKept) await store.write(expireCancelled(cancelled, expiresAtMs));
  return { kind: "cancelled", openEffects: open };
}

function newRecord(job: JobIdentity, reason: GivenUp, nowMs: number): LedgerWrite {
  const owner = `operator:${randomUUID()}`;
  const nobody = { messageId: "", receiveCount: 0, payloadHash: "", leaseUntilMs: 0 };
  return cancelNew({ job, owner, nowMs, ...nobody }, reason);
}
