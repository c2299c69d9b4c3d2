/** What a finished run left behind, read from outside: queues, invoices and receipts. */

import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { paginateScan } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand, ListQueuesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { LocalAws } from "@leasehold/local-aws";
import type { ChargeEvidence, LedgerEvidence } from "./payment-evidence.ts";

/** One queue as the server has it. */
export interface QueueEvidence {
  readonly name: string;
  readonly isDeadLetterQueue: boolean;
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** Sent by anybody, since the queue was created. */
  readonly sent: number;
  readonly deleted: number;
  /** Left the queue in any other way: expired, purged, moved by a redrive. */
  readonly leftOtherwise: number;
  /** Arrived in any other way. */
  readonly arrivedOtherwise: number;
}

/** One invoice as the table has it. */
export interface InvoiceEvidence {
  readonly tenantId: string;
  readonly invoiceId: string;
  readonly isPaid: boolean;
  readonly currency: string;
  readonly totalMinor: number;
  /** Absent when it is not paid. */
  readonly paidMinor?: number;
  /** The provider's id of the payment that this service made; absent when others reported it. */
  readonly paymentId?: string;
  /** What the lines and the taxes of the stored document come to. */
  readonly sumOfPartsMinor: number;
}

/** One file of the receipts folder. */
export interface ReceiptEvidence {
  /** From the receipts folder. */
  readonly path: string;
  /** Why the file is no PDF, in the words of the program that refused it. */
  readonly problem?: string;
  readonly pages: number;
  /** The fields of its keywords, decoded. */
  readonly keywords: Readonly<Record<string, string>>;
  /** All of its text as a reader would see it. */
  readonly text: string;
}

/** Everything that is judged. */
export interface Evidence {
  /** Every charge in the provider's file. */
  readonly charges: readonly ChargeEvidence[];
  readonly ledger: readonly LedgerEvidence[];
  readonly queues: readonly QueueEvidence[];
  readonly invoices: readonly InvoiceEvidence[];
  /** `undefined` when nobody looked inside the files. */
  readonly receipts?: readonly ReceiptEvidence[];
  /** Paths of all PDFs, from the receipts folder. */
  readonly receiptPaths: readonly string[];
  /** Files in the receipts folder that are no PDFs by their names. */
  readonly otherPaths: readonly string[];
}

/** Every queue of the account; a dead-letter queue is one that another queue names as such. */
export async function readQueues({
  sqs,
  embedded,
}: Pick<LocalAws, "sqs" | "embedded">): Promise<readonly QueueEvidence[]> {
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  const attributes = await Promise.all(QueueUrls.map((url) => readAttributes(sqs, url)));
  const targets = new Set(attributes.map((live) => readTarget(live["RedrivePolicy"])));
  const statistics = embedded?.account.report().queues ?? {};
  return attributes.map((live) => {
    const name = (live["QueueArn"] ?? "").replace(/^.*:/, "");
    const counted = statistics[name];
    if (counted === undefined) throw new Error(`the server has no statistics of queue ${name}`);
    return {
      name,
      isDeadLetterQueue: targets.has(live["QueueArn"]),
      visible: Number(live["ApproximateNumberOfMessages"]),
      inFlight: Number(live["ApproximateNumberOfMessagesNotVisible"]),
      delayed: Number(live["ApproximateNumberOfMessagesDelayed"]),
      sent: counted.sent,
      deleted: counted.deleted,
      leftOtherwise:
        counted.expired + counted.purged + counted.movedToDeadLetter + counted.redriven,
      arrivedOtherwise: counted.arrivedDeadLettered + counted.arrivedRedriven,
    };
  });
}

async function readAttributes(
  sqs: SQSClient,
  url: string,
): Promise<Readonly<Record<string, string>>> {
  const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] });
  return (await sqs.send(command)).Attributes ?? {};
}

function readTarget(policy: string | undefined): string | undefined {
  if (!policy) return undefined;
  return (JSON.parse(policy) as { readonly deadLetterTargetArn?: string }).deadLetterTargetArn;
}

interface StoredDocument {
  readonly lines?: readonly { readonly netMinor: number }[];
  readonly taxes?: readonly { readonly taxMinor: number }[];
}

/** Every invoice of the table, by a scan and not by the service's own store. */
export async function readInvoices(
  client: DynamoDBClient,
  tableName: string,
): Promise<readonly InvoiceEvidence[]> {
  const invoices: InvoiceEvidence[] = [];
  const input = { TableName: tableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, input)) {
    for (const item of Items) {
      const document = JSON.parse(item["document"]?.S ?? "{}") as StoredDocument;
      const paymentId = item["payment"]?.M?.["paymentId"]?.S;
      const paidMinor = item["payment"]?.M?.["amountMinor"]?.N;
      invoices.push({
        tenantId: item["tenantId"]?.S ?? "",
        invoiceId: item["invoiceId"]?.S ?? "",
        isPaid: item["state"]?.S === "paid",
        currency: item["currency"]?.S ?? "",
        totalMinor: Number(item["totalMinor"]?.N),
        ...(paidMinor === undefined ? {} : { paidMinor: Number(paidMinor) }),
        ...(paymentId === undefined ? {} : { paymentId }),
        sumOfPartsMinor: sumOfParts(document),
      });
    }
  }
  return invoices;
}

function sumOfParts({ lines = [], taxes = [] }: StoredDocument): number {
  const amounts = [...lines.map((line) => line.netMinor), ...taxes.map((tax) => tax.taxMinor)];
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
