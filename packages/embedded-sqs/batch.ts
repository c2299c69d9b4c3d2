/** Batches: what a batch may look like, and an answer for each entry. Pure. */

import { SqsError } from "./errors.ts";
import type { Batch, BatchResult, FailedEntry } from "./sqs-api.ts";

const MAX_ENTRIES = 10;
const ENTRY_ID = /^[\w-]{1,80}$/;

/**
 * The entries of a batch, when the batch itself is one that SQS takes.
 * @throws SqsError when it is empty, too long, or its ids are wrong
 */
export function checkBatch<Entry>(
  action: string,
  entries: Batch<Entry>["Entries"],
): readonly (Entry & { readonly Id: string })[] {
  if (entries === undefined || entries.length === 0) {
    const reason = `There should be at least one ${action}RequestEntry in the request.`;
    throw new SqsError("EmptyBatchRequest", reason);
  }
  if (entries.length > MAX_ENTRIES) {
    throw new SqsError(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${MAX_ENTRIES}. You have sent ${entries.length}.`,
    );
  }
  const ids = new Set<string>();
  for (const { Id = "" } of entries) {
    if (!ENTRY_ID.test(Id)) {
      throw new SqsError(
        "InvalidBatchEntryId",
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
      );
    }
    if (ids.has(Id)) throw new SqsError("BatchEntryIdsNotDistinct", `Id ${Id} repeated.`);
    ids.add(Id);
  }
  return entries as readonly (Entry & { readonly Id: string })[];
}

/** Works each entry by itself: one that is refused does not stop the others. */
export function workBatch<Entry extends { readonly Id: string }, Result>(
  entries: readonly Entry[],
  work: (entry: Entry) => Result,
): BatchResult<Result> {
  const successful: (Result & { readonly Id: string })[] = [];
  const failed: FailedEntry[] = [];
  for (const entry of entries) {
    try {
      successful.push({ Id: entry.Id, ...work(entry) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      failed.push({
        Id: entry.Id,
        Code: error.queryCode,
        Message: error.message,
        SenderFault: error.status < 500,
      });
    }
  }
  return { Successful: successful, Failed: failed };
}
