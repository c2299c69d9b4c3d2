/** Port: where a result, or a parked job's message, goes that is too big for its record. */

import type { PayloadStore } from "@leasehold/job";

/**
 * Any store of payloads will do, `folderPayloadStore` and `s3PayloadStore` among them: keys begin with
 * `ledger/` and end with the hash of their text.
 *
 * What lies there is needed as long as its record: let nothing be deleted before the record's own
 * retention is over (35 days unless told otherwise), nor what a parked job still waits with.
 */
export type ResultStore = PayloadStore;

/** Where a text lies. */
export function resultKey(sha256: string): string {
  return `ledger/${sha256}`;
}
