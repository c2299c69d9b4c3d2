/** What a parking write says, with the message that the job needs to go on. */

import type { EffectSurroundings, JobIdentity, ParkReason } from "@leasehold/job";
import { sha256 } from "./effect-key.ts";
import type { LedgerParts } from "./ledger-parts.ts";
import type { Parked, StoredMessage } from "./ledger-record.ts";
import { messageText, readMessageText } from "./message-text.ts";
import { resultKey } from "./result-store.ts";

/** Which job is parked, and why. */
export interface Parking {
  readonly job: JobIdentity;
  readonly surroundings: Pick<EffectSurroundings, "copyMessage">;
  readonly why: ParkReason;
  readonly effect?: string;
}

/**
 * What the write says; `undefined`, and reported, when the message cannot be stored, because it is
 * too big for the record and there is nowhere else.
 */
export async function parkedBy(parts: LedgerParts, parking: Parking): Promise<Parked | undefined> {
  const { job, surroundings, why, effect } = parking;
  const message = await storeMessage(parts, messageText(surroundings.copyMessage()));
  if (message === undefined) {
    parts.emit({ kind: "ledger.unparkable", job, why, alarm: true });
    return undefined;
  }
  const about = effect === undefined ? {} : { effect };
  return { atMs: parts.clock.wallMs(), why, ...about, token: parts.unique(), message };
}

async function storeMessage(
  { options, results }: LedgerParts,
  text: string,
): Promise<StoredMessage | undefined> {
  if (Buffer.byteLength(text) <= options.parkedMessageBytes) {
    return { kind: "inline", message: readMessageText(text) };
  }
  const at = resultKey(sha256(text));
  try {
    if (results === undefined) return undefined;
    await results.put(at, text);
    return { kind: "reference", at };
  } catch {
    return undefined; // reported as unparkable
  }
}
