/** The ledger store on DynamoDB: sends each write and proves its own. */

import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Clock } from "@leasehold/clock";
import type { JobIdentity } from "@leasehold/job";
import { isMade, patched } from "./apply-write.ts";
import { type Item, itemKey, readItem } from "./dynamodb-item.ts";
import { putRequest, updateRequest } from "./dynamodb-writes.ts";
import { StoreUnavailableError } from "./errors.ts";
import type { JobRecord } from "./ledger-record.ts";
import type {
  LedgerStore,
  LedgerWrite,
  ParkedPage,
  ParkedQuery,
  WriteAnswer,
} from "./ledger-store.ts";

/** What a store on DynamoDB is made of. */
export interface DynamodbStoreArguments {
  /** May try again by itself: a write that is sent twice knows itself. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly clock: Clock;
  /** When a call without an answer is given up. @defaultValue 2_000 */
  readonly requestTimeoutMs?: number;
}

/** Name of the index that only parked jobs are in. */
const PARKED_INDEX = "parked";
const REQUEST_TIMEOUT_MS = 2_000;

/**
 * The ledger in one DynamoDB table, one item for each job, no transactions.
 *
 * It needs no item in the answer to a refused condition: where that is missing (an emulator, an old
 * endpoint) a consistent read tells what is stored.
 */
export class DynamodbLedgerStore implements LedgerStore {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;
  readonly #clock: Clock;
  readonly #requestTimeoutMs: number;

  constructor({ client, tableName, clock, requestTimeoutMs }: DynamodbStoreArguments) {
    this.#client = client;
    this.#tableName = tableName;
    this.#clock = clock;
    this.#requestTimeoutMs = requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  }

  async write(write: LedgerWrite): Promise<WriteAnswer> {
    const answer = await this.#send(write);
    if (answer.kind === "made") {
      const { record } = answer;
      return { kind: "applied", ...(write.returnsRecord === true && record && { record }) };
    }
    const record = answer.item === undefined ? await this.read(write.job) : readItem(answer.item);
    // An earlier try of this very write may have been made, by us or by a retry inside the SDK.
    if (record !== undefined && isMade(record, write)) return { kind: "applied", record };
    return { kind: "refused", record };
  }

  async read(job: JobIdentity): Promise<JobRecord | undefined> {
    const request = new GetItemCommand({
      TableName: this.#tableName,
      Key: itemKey(job),
      ConsistentRead: true,
    });
    const { Item } = await this.#call("read", (abortSignal) =>
      this.#client.send(request, { abortSignal }),
    );
    return Item === undefined ? undefined : readItem(Item);
  }

  async listParked({ tenantId, limit, after }: ParkedQuery): Promise<ParkedPage> {
    const page = {
      TableName: this.#tableName,
      IndexName: PARKED_INDEX,
      Limit: limit,
      ...(after !== undefined && { ExclusiveStartKey: JSON.parse(after) as Item }),
    };
    const { Items = [], LastEvaluatedKey } = await this.#call("list-parked", (abortSignal) =>
      tenantId === undefined
        ? this.#client.send(new ScanCommand(page), { abortSignal })
        : this.#client.send(new QueryCommand({ ...page, ...ofTenant(tenantId) }), { abortSignal }),
    );
    const next = LastEvaluatedKey === undefined ? undefined : JSON.stringify(LastEvaluatedKey);
    return { records: Items.map(readItem), ...(next !== undefined && { next }) };
  }

  async #send(write: LedgerWrite): Promise<SendAnswer> {
    try {
      const record =
        write.condition.absent === true ? await this.#put(write) : await this.#update(write);
      return { kind: "made", record };
    } catch (error) {
      const { cause } = error as Error;
      if (!(cause instanceof ConditionalCheckFailedException)) throw error;
      return { kind: "refused", item: cause.Item };
    }
  }

  /** @returns the record as it is now, which is what was put */
  async #put(write: LedgerWrite): Promise<JobRecord> {
    const request = new PutItemCommand(putRequest(this.#tableName, write));
    await this.#call(write.name, (abortSignal) => this.#client.send(request, { abortSignal }));
    return patched(undefined, write.job, write.patch);
  }

  /** @returns the record as it is now, where the write asked for it */
  async #update(write: LedgerWrite): Promise<JobRecord | undefined> {
    const request = new UpdateItemCommand(updateRequest(this.#tableName, write));
    const { Attributes } = await this.#call(write.name, (abortSignal) =>
      this.#client.send(request, { abortSignal }),
    );
    return Attributes && readItem(Attributes);
  }

  async #call<Output>(
    operation: string,
    send: (signal: AbortSignal) => Promise<Output>,
  ): Promise<Output> {
    const abort = new AbortController();
    const cancel = this.#clock.schedule(this.#requestTimeoutMs, () => abort.abort());
    try {
      return await send(abort.signal);
    } catch (cause) {
      throw new StoreUnavailableError(operation, { cause });
    } finally {
      cancel();
    }
  }
}

type SendAnswer =
  | { readonly kind: "made"; readonly record: JobRecord | undefined }
  | { readonly kind: "refused"; readonly item: Record<string, AttributeValue> | undefined };

function ofTenant(tenantId: string) {
  return {
    KeyConditionExpression: "#tenant = :tenant",
    ExpressionAttributeNames: { "#tenant": "tenantId" },
    ExpressionAttributeValues: { ":tenant": { S: tenantId } },
  };
}
