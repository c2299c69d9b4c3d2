/** Packs entries by count and by bytes. Pure. */

import { MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES } from "./limits.ts";

/** What packing must know of an entry. */
export interface Packable {
  readonly bytes: number;
  readonly groupId: string;
}

/**
 * How many of the first entries go together in one call, in their order: the first one that does not
 * fit closes the batch.
 *
 * @param onePerGroup - whether a second entry of a group must wait for the next batch: within a batch
 * one may fail and its successor be taken, which turns their order round
 * @returns at least 1, when there is an entry
 */
export function batchLength(entries: readonly Packable[], onePerGroup: boolean): number {
  const groups = new Set<string>();
  let batchBytes = 0;
  let length = 0;
  for (const { bytes, groupId } of entries) {
    const isFull =
      length === MAX_BATCH_ENTRIES ||
      batchBytes + bytes > MAX_MESSAGE_BYTES ||
      (onePerGroup && groups.has(groupId));
    if (isFull && length > 0) break;
    batchBytes += bytes;
    groups.add(groupId);
    length += 1;
  }
  return length;
}
