/** Receipt handles: which receipt of which message of which queue. Pure. */

import { SqsError } from "./errors.ts";

/** What a handle says. It needs no table, so it outlives the message and a restart. */
export interface Receipt {
  readonly queueId: string;
  readonly messageId: string;
  /** Counts the receives of the message: a smaller one than the message's own is stale. */
  readonly receipt: number;
}

const PATTERN = /^([^ ]+) ([^ ]+) ([1-9]\d*)$/;

/** The handle of a receipt. */
export function writeReceiptHandle({ queueId, messageId, receipt }: Receipt): string {
  return Buffer.from(`${queueId} ${messageId} ${receipt}`).toString("base64");
}

/** @throws SqsError ReceiptHandleIsInvalid when it is no handle, or one of another queue */
export function readReceiptHandle(handle: string, queueId: string): Receipt {
  const text = Buffer.from(handle, "base64").toString();
  const [, ofQueue, messageId, receipt] = PATTERN.exec(text) ?? [];
  if (messageId === undefined || ofQueue !== queueId || receipt === undefined) {
    throw new SqsError(
      "ReceiptHandleIsInvalid",
      `The input receipt handle "${handle.slice(0, 200)}" is not a valid receipt handle.`,
    );
  }
  return { queueId, messageId, receipt: Number(receipt) };
}
