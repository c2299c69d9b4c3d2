import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { systemClock } from "@leasehold/clock";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Fault, startEmbeddedDynamodb, startFaultProxy } from "../index.ts";

/** An embedded DynamoDB with one table, a proxy before it, and a client that tries once. */
async function setup() {
  const store = await startEmbeddedDynamodb({ clock: systemClock });
  onTestFinished(() => store.close());
  const proxy = await startFaultProxy({ target: store.endpoint });
  onTestFinished(() => proxy.close());
  const client = new DynamoDBClient({
    endpoint: proxy.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  onTestFinished(() => client.destroy());
  const TableName = "ledger";
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 1 }, { TableName });
  const put = (pk: string, signal?: AbortSignal) =>
    client.send(
      new PutItemCommand({ TableName, Item: { pk: { S: pk } } }),
      signal === undefined ? {} : { abortSignal: signal },
    );
  const has = async (pk: string) => {
    const answer = await client.send(new GetItemCommand({ TableName, Key: { pk: { S: pk } } }));
    return answer.Item !== undefined;
  };
  const faultPuts = (fault: Fault) => {
    proxy.setPlan({ rules: [{ fault, actions: ["PutItem"], resources: ["ledger"] }] });
  };
  return { proxy, client, put, has, faultPuts };
}

describe("the fault proxy before DynamoDB", () => {
  test.each([
    [{ kind: "throttle" }, "ThrottlingException", 400],
    [
      { kind: "throttle", code: "ProvisionedThroughputExceededException" },
      "ProvisionedThroughputExceededException",
      400,
    ],
    [{ kind: "server-error", side: "before" }, "InternalServerError", 500],
    [{ kind: "server-error", side: "before", status: 503 }, "ServiceUnavailable", 503],
  ] as const)("refuses by %o in DynamoDB's words, without effect", async (fault, name, status) => {
    const { proxy, put, has, faultPuts } = await setup();
    faultPuts(fault);

    await expect(put("a")).rejects.toMatchObject({ name, $metadata: { httpStatusCode: status } });

    expect(await has("a")).toBe(false);
    expect(proxy.log.at(-2)).toMatchObject({
      action: "PutItem",
      resource: "ledger",
      nth: 1,
      fault,
    });
    expect(proxy.log.at(-1)).toMatchObject({ action: "GetItem", resource: "ledger", status: 200 });
  });

  test.each([
    [{ kind: "reset", side: "before" }, false],
    [{ kind: "reset", side: "after" }, true],
    [{ kind: "server-error", side: "after" }, true],
  ] as const)("fails by %o, and has written or not", async (fault, isWritten) => {
    const { put, has, faultPuts } = await setup();
    faultPuts(fault);

    await expect(put("a")).rejects.toThrow();

    expect(await has("a")).toBe(isWritten);
  });

  test("writes and never says so", async () => {
    const { proxy, put, has, faultPuts } = await setup();
    faultPuts({ kind: "lost-reply" });
    const patience = new AbortController();
    const answer = put("a", patience.signal);
    while (!(await has("a")));
    patience.abort();

    await expect(answer).rejects.toMatchObject({ name: "AbortError" });

    const logged = proxy.log.find(({ action }) => action === "PutItem");
    expect(logged?.answeredAtMs).toBeDefined();
    expect(logged?.status).toBeUndefined();
  });

  test("knows a request that is about no table, and leaves alone what no rule is about", async () => {
    const { proxy, client, put, faultPuts } = await setup();
    faultPuts({ kind: "hung" });

    const { TableNames } = await client.send(new ListTablesCommand({}));

    expect(TableNames).toEqual(["ledger"]);
    expect(proxy.log.at(-1)).toMatchObject({ action: "ListTables", resource: undefined });
    proxy.clear();
    await put("a");
  });
});

describe("the fault proxy before anything else", () => {
  test.each([
    ["a form", { method: "POST", body: "Action=PublishBatch&Version=2010-03-31" }, "PublishBatch"],
    [
      "a form whose action comes later",
      { method: "POST", body: "Version=2010-03-31&Action=Publish" },
      "Publish",
    ],
    ["a resource", { method: "PUT" }, "PUT /v1.2/state?busy=true"],
  ])("names the request of %s", async (_what, request, action) => {
    const server = createServer((_request, response) => void response.end("fine"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const proxy = await startFaultProxy({ target: `http://127.0.0.1:${port}` });
    onTestFinished(() => proxy.close());

    const answer = await fetch(`${proxy.endpoint}/v1.2/state?busy=true`, request);

    expect(await answer.text()).toBe("fine");
    expect(proxy.log).toMatchObject([{ action, resource: undefined, entries: [], status: 200 }]);
  });
});
