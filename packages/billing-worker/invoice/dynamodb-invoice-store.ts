/** Invoices in DynamoDB: one item each, every write with the condition that makes it repeatable. */

import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Invoice, IssuedInvoice, Payment } from "./invoice.ts";
import {
  type InvoiceItem,
  invoiceItemKey,
  issuedInvoiceItem,
  paymentAttribute,
  readInvoiceItem,
} from "./invoice-item.ts";
import {
  type InvoiceKey,
  type InvoiceStore,
  type IssueOutcome,
  judgePayment,
  type PaymentOutcome,
} from "./invoice-store.ts";

/**
 * Invoices in one table. A refused condition is followed by a consistent read, because an SDK retry
 * of a write that had succeeded is refused as well: what is stored decides, not the refusal.
 */
export class DynamoDbInvoiceStore implements InvoiceStore {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;

  constructor(client: DynamoDBClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  async issue(invoice: IssuedInvoice): Promise<IssueOutcome> {
    const item = issuedInvoiceItem(invoice);
    const put = new PutItemCommand({
      TableName: this.#tableName,
      Item: item,
      ConditionExpression: "attribute_not_exists(pk)",
    });
    if ((await unlessRefused(this.#client.send(put))) !== undefined) return { kind: "issued" };
    const stored = await this.#read(invoice);
    const isSame = stored?.["contentHash"]?.S === item["contentHash"]?.S;
    return isSame ? { kind: "unchanged" } : { kind: "conflict" };
  }

  async find(key: InvoiceKey): Promise<Invoice | undefined> {
    const item = await this.#read(key);
    return item === undefined ? undefined : readInvoiceItem(item);
  }

  async pay(key: InvoiceKey, payment: Payment): Promise<PaymentOutcome> {
    const booked = await unlessRefused(this.#client.send(this.#payCommand(key, payment)));
    if (booked?.Attributes !== undefined) {
      return { kind: "paid", invoice: { ...readInvoiceItem(booked.Attributes), payment } };
    }
    // Open and of the right amount, although refused, can only have been issued in between: for the
    // caller it was not there yet.
    return judgePayment(await this.find(key), payment) ?? { kind: "not-found" };
  }

  /**
   * Looks whether the table answers, by reading an invoice that cannot exist: that needs no right
   * beyond those of the jobs.
   *
   * @throws Error that names the table and says what to do
   */
  async assertReachable(): Promise<void> {
    try {
      await this.#read({ tenantId: "", invoiceId: "" });
    } catch (cause) {
      const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
      const why =
        name === "ResourceNotFoundException"
          ? "does not exist in this account and region: create it"
          : `cannot be read (${name}: ${message}): check endpoint, region and credentials`;
      throw new Error(`table ${this.#tableName} ${why}`, { cause });
    }
  }

  #payCommand(key: InvoiceKey, payment: Payment): UpdateItemCommand {
    return new UpdateItemCommand({
      TableName: this.#tableName,
      Key: invoiceItemKey(key),
      UpdateExpression: "SET #state = :paid, #payment = :payment, #version = #version + :one",
      ConditionExpression: "#state = :open AND #currency = :currency AND #total = :total",
      ExpressionAttributeNames: {
        "#state": "state",
        "#payment": "payment",
        "#version": "version",
        "#currency": "currency",
        "#total": "totalMinor",
      },
      ExpressionAttributeValues: {
        ":open": { S: "open" },
        ":paid": { S: "paid" },
        ":payment": paymentAttribute(payment),
        ":one": { N: "1" },
        ":currency": { S: payment.currency },
        ":total": { N: String(payment.amountMinor) },
      },
      ReturnValues: "ALL_NEW",
    });
  }

  async #read(key: InvoiceKey): Promise<InvoiceItem | undefined> {
    const { Item } = await this.#client.send(
      new GetItemCommand({
        TableName: this.#tableName,
        Key: invoiceItemKey(key),
        ConsistentRead: true,
      }),
    );
    return Item;
  }
}

/** What the write returned; `undefined` when its condition was refused; other faults are thrown. */
async function unlessRefused<Output>(write: Promise<Output>): Promise<Output | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
