/** Packs entries by count and by bytes. Pure. */

import { MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES } from "./limits.ts";

/** What packing must know of an entry. */
export interface Packable {
  readonly bytes: number;
  readonly groupId: string;
}

/**
 * The entries as batches that SQS takes in one call, in their order: each goes into the open batch,
 * or closes it when it no longer fits.
 *
 * @param onePerGroup - whether a second entry of a group must wait for the next batch: within a batch
 * one may fail and its successor be taken, which turns their order round
 */
export function packBatches<Entry extends Packable>(
  entries: readonly Entry[],
  onePerGroup: boolean,
): readonly (readonly Entry[])[] {
  const batches: Entry[][] = [];
  let open: Entry[] = [];
  let openBytes = 0;
  for (const entry of entries) {
    const isFull =
      open.length === MAX_BATCH_ENTRIES ||
      openBytes + entry.bytes > MAX_MESSAGE_BYTES ||
      (onePerGroup && open.some(({ groupId }) => groupId === entry.groupId));
    if (open.length === 0 || isFull) {
      open = [];
      openBytes = 0;
      batches.push(open);
    }
    open.push(entry);
    openBytes += entry.bytes;
  }
  return batches;
}
