/** One table: whether it is there, whether it is as the contract says, and its creation. */

import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  DynamoDBServiceException,
  type KeySchemaElement,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import type { Clock } from "@leasehold/clock";
import type { KeyAttribute } from "@leasehold/deployment-contract";
import type { AwsClients } from "./endpoint.ts";
import { type SettingConflict, TableNotActiveError } from "./errors.ts";

/** Keys of a table or of one of its indexes. */
export interface TableKeys {
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
}

/** A table as data; the contract's `TableSettings` is one, too. Always paid on demand. */
export interface TableDefinition extends TableKeys {
  readonly tableName: string;
  /** Where an item says when it may go; absent when items stay. */
  readonly timeToLiveAttribute?: string;
  /** Every attribute of an item is in each of them. */
  readonly indexes?: readonly (TableKeys & { readonly name: string })[];
}

const LOOK_AGAIN_MS = 250;
const ACTIVE_WITHIN_MS = 60_000;

/** A table on its way from its definition to DynamoDB. */
export class TableProvisioning {
  readonly name: string;
  readonly #dynamodb: DynamoDBClient;
  readonly #wanted: TableDefinition;
  readonly #clock: Clock;

  constructor(clients: AwsClients, wanted: TableDefinition, clock: Clock) {
    this.name = `table ${wanted.tableName}`;
    this.#dynamodb = clients.dynamodb;
    this.#wanted = wanted;
    this.#clock = clock;
  }

  /** Settings that differ from the definition, or `undefined` when the table does not exist. */
  async inspect(): Promise<readonly SettingConflict[] | undefined> {
    const live = await this.#describe();
    if (live === undefined) return undefined;
    const wanted = describeWanted(this.#wanted);
    const found = describeLive(live);
    // An index that the definition does not know harms nobody.
    const conflicts = [...wanted]
      .filter(([setting, value]) => found.get(setting) !== value)
      .map(([setting, value]) => this.#conflict(setting, value, found.get(setting)));
    return [...conflicts, ...(await this.#compareTimeToLive())];
  }

  /** Creates the table and waits until it can be used. */
  async create(): Promise<void> {
    try {
      await this.#dynamodb.send(new CreateTableCommand(toRequest(this.#wanted)));
    } catch (error) {
      if (!isNamed(error, "ResourceInUseException")) throw error; // Somebody else was faster.
    }
  }

  /** Waits until the table can be used, and turns on its time to live where there is none yet. */
  async complete(): Promise<void> {
    await this.#untilActive();
    const wanted = this.#wanted.timeToLiveAttribute;
    if (wanted === undefined || (await this.#timeToLiveAttribute()) !== undefined) return;
    try {
      await this.#dynamodb.send(
        new UpdateTimeToLiveCommand({
          TableName: this.#wanted.tableName,
          TimeToLiveSpecification: { AttributeName: wanted, Enabled: true },
        }),
      );
    } catch (error) {
      // dynalite tells about time to live but has none to turn on; nothing else answers like this.
      if (isNamed(error, "UnknownOperationException")) return;
      // Turned on by somebody else in the meantime: DynamoDB has no error of its own for that.
      if (!isNamed(error, "ValidationException")) throw error;
      if ((await this.#timeToLiveAttribute()) !== wanted) throw error;
    }
  }

  async #untilActive(): Promise<void> {
    const startedAtMs = this.#clock.monotonicMs();
    for (;;) {
      const status = (await this.#describe())?.TableStatus ?? "absent";
      // UPDATING serves requests like ACTIVE.
      if (status === "ACTIVE" || status === "UPDATING") return;
      const waitedMs = this.#clock.monotonicMs() - startedAtMs;
      if (waitedMs >= ACTIVE_WITHIN_MS) {
        throw new TableNotActiveError(this.#wanted.tableName, status, waitedMs);
      }
      await this.#clock.sleep(LOOK_AGAIN_MS);
    }
  }

  async #describe(): Promise<TableDescription | undefined> {
    try {
      const { tableName } = this.#wanted;
      return (await this.#dynamodb.send(new DescribeTableCommand({ TableName: tableName }))).Table;
    } catch (error) {
      if (isNamed(error, "ResourceNotFoundException")) return undefined;
      throw error;
    }
  }

  async #compareTimeToLive(): Promise<readonly SettingConflict[]> {
    const wanted = this.#wanted.timeToLiveAttribute;
    if (wanted === undefined) return [];
    const live = await this.#timeToLiveAttribute();
    // A table without any was left by an interrupted creation; `complete` turns it on.
    if (live === undefined || live === wanted) return [];
    return [this.#conflict("time to live attribute", wanted, live)];
  }

  async #timeToLiveAttribute(): Promise<string | undefined> {
    const answer = await this.#dynamodb.send(
      new DescribeTimeToLiveCommand({ TableName: this.#wanted.tableName }),
    );
    const { TimeToLiveStatus: status, AttributeName: name } = answer.TimeToLiveDescription ?? {};
    return status === "ENABLED" || status === "ENABLING" ? name : undefined;
  }

  #conflict(setting: string, contractValue: string, liveValue = "missing"): SettingConflict {
    const mend =
      `change the definition, or move the items and create the table anew ` +
      `(aws dynamodb delete-table --table-name ${this.#wanted.tableName})`;
    return { resource: this.name, setting, contractValue, liveValue, mend };
  }
}

function describeWanted(table: TableDefinition): ReadonlyMap<string, string> {
  const indexes = (table.indexes ?? []).map(
    (index) => [`index ${index.name}`, `${showKeys(index)}, all attributes`] as const,
  );
  return new Map([["keys", showKeys(table)], ["billing", "PAY_PER_REQUEST"], ...indexes]);
}

function describeLive(table: TableDescription): ReadonlyMap<string, string> {
  const types = new Map(
    (table.AttributeDefinitions ?? []).map((one) => [one.AttributeName, one.AttributeType]),
  );
  const show = (schema: readonly KeySchemaElement[] = []) =>
    schema.map((key) => `${key.AttributeName} (${types.get(key.AttributeName)})`).join(", ");
  const indexes = (table.GlobalSecondaryIndexes ?? []).map((index) => {
    const projection = index.Projection?.ProjectionType === "ALL" ? "all" : "not all";
    return [
      `index ${index.IndexName}`,
      `${show(index.KeySchema)}, ${projection} attributes`,
    ] as const;
  });
  const billing = table.BillingModeSummary?.BillingMode ?? "PROVISIONED";
  return new Map([["keys", show(table.KeySchema)], ["billing", billing], ...indexes]);
}

function showKeys(keys: TableKeys): string {
  return keysOf(keys)
    .map(({ name, type }) => `${name} (${type})`)
    .join(", ");
}

function keysOf({ partitionKey, sortKey }: TableKeys): readonly KeyAttribute[] {
  return sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
}

function toRequest(table: TableDefinition): CreateTableCommandInput {
  const indexes = table.indexes ?? [];
  const attributes = new Map(
    [table, ...indexes].flatMap(keysOf).map(({ name, type }) => [name, type]),
  );
  return {
    TableName: table.tableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: toKeySchema(table),
    AttributeDefinitions: [...attributes].map(([name, type]) => ({
      AttributeName: name,
      AttributeType: type,
    })),
    ...(indexes.length === 0
      ? {}
      : {
          GlobalSecondaryIndexes: indexes.map((index) => ({
            IndexName: index.name,
            KeySchema: toKeySchema(index),
            Projection: { ProjectionType: "ALL" as const },
          })),
        }),
  };
}

function toKeySchema(keys: TableKeys): KeySchemaElement[] {
  return keysOf(keys).map(({ name }, index) => ({
    AttributeName: name,
    KeyType: index === 0 ? "HASH" : "RANGE",
  }));
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof DynamoDBServiceException && error.name === name;
}
