/** The answer to a batch: whatever is not known to be done is reported as failed. Pure. */

import type { BatchResponse } from "./lambda.ts";

/**
 * Every message that is not done, in the order of the batch.
 *
 * It is made from what is done, not from what failed: what was forgotten on the way comes again, and
 * Lambda deletes nothing that nobody has worked.
 */
export function partialBatch(
  messageIds: readonly string[],
  done: ReadonlySet<string>,
): BatchResponse {
  const failed = messageIds.filter((messageId) => !done.has(messageId));
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
}
