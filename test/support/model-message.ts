/** A message of the model as the lease queue hands it out, and back. */

import type { SqsAccount } from "@leasehold/embedded-sqs";
import type { MessageAttribute, Receipt } from "@leasehold/lease";

type SqsMessage = NonNullable<
  Awaited<ReturnType<typeof SqsAccount.prototype.perform<"ReceiveMessage">>>["Messages"]
>[number];

/** What the model received, as a receipt. */
export function toReceipt({ MessageId, ReceiptHandle, Body, ...rest }: SqsMessage): Receipt {
  const { Attributes = {}, MessageAttributes = {} } = rest;
  const attributes = Object.entries(MessageAttributes).map(([name, attribute]) => [
    name,
    {
      dataType: attribute.DataType ?? "String",
      value: attribute.StringValue ?? attribute.BinaryValue ?? "",
    },
  ]);
  const groupId = Attributes["MessageGroupId"];
  const deduplicationId = Attributes["MessageDeduplicationId"];
  const sequenceNumber = Attributes["SequenceNumber"];
  return {
    receiptHandle: ReceiptHandle,
    message: {
      messageId: MessageId,
      body: Body,
      attributes: Object.fromEntries(attributes),
      receiveCount: Number(Attributes["ApproximateReceiveCount"]),
      sentAtMs: Number(Attributes["SentTimestamp"]),
      ...(groupId !== undefined && { groupId }),
      ...(deduplicationId !== undefined && { deduplicationId }),
      ...(sequenceNumber !== undefined && { sequenceNumber }),
    },
  };
}

/** Attributes as the model takes them. */
export function toSqs(attributes: Readonly<Record<string, MessageAttribute>>) {
  const entries = Object.entries(attributes).map(
    ([name, { dataType, value }]) =>
      [
        name,
        typeof value === "string"
          ? { DataType: dataType, StringValue: value }
          : { DataType: dataType, BinaryValue: value },
      ] as const,
  );
  return Object.fromEntries(entries);
}
