import { createServer, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { systemClock } from "@leasehold/clock";
import { type EmbeddedDynamodb, startEmbeddedDynamodb } from "@leasehold/local-aws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { invoicesTable } from "../contract.ts";
import { DynamoDbInvoiceStore } from "../invoice/dynamodb-invoice-store.ts";
import type { InvoiceStore } from "../invoice/invoice-store.ts";
import { MemoryInvoiceStore } from "./memory-invoice-store.ts";
import { issued, payment } from "./sample-invoice.ts";

let dynamodb: EmbeddedDynamodb;
let client: DynamoDBClient;

beforeAll(async () => {
  dynamodb = await startEmbeddedDynamodb({ clock: systemClock });
  client = clientFor(dynamodb.endpoint);
  await client.send(
    new CreateTableCommand({
      TableName: invoicesTable.tableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
      ],
    }),
  );
});

afterAll(async () => {
  client.destroy();
  await dynamodb.close();
});

function clientFor(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return new DynamoDBClient({ endpoint, region: "eu-central-1", credentials });
}

const adapters: readonly (readonly [string, () => InvoiceStore])[] = [
  ["memory", () => new MemoryInvoiceStore()],
  ["DynamoDB", () => new DynamoDbInvoiceStore(client, invoicesTable.tableName)],
];

let tenants = 0;

describe.each(adapters)("an invoice store in %s", (_, makeStore) => {
  /** A tenant of its own for each test, so that one table serves all. */
  function setup() {
    tenants += 1;
    const tenantId = `tenant-${tenants}`;
    const invoice = issued({}, tenantId);
    return { store: makeStore(), invoice, key: { tenantId, invoiceId: invoice.invoiceId } };
  }

  test("gives back an invoice as it was issued", async () => {
    const { store, invoice, key } = setup();

    expect(await store.find(key)).toBeUndefined();
    expect(await store.issue(invoice)).toEqual({ kind: "issued" });

    expect(await store.find(key)).toEqual({ ...invoice, version: 1 });
  });

  test("changes nothing when the same invoice is issued again", async () => {
    const { store, invoice, key } = setup();
    await store.issue(invoice);
    await store.pay(key, payment);

    expect(await store.issue(invoice)).toEqual({ kind: "unchanged" });

    expect(await store.find(key)).toEqual({ ...invoice, version: 2, payment });
  });

  test("refuses another invoice under the same id", async () => {
    const { store, invoice, key } = setup();
    await store.issue(invoice);

    expect(await store.issue({ ...invoice, note: "changed" })).toEqual({ kind: "conflict" });

    expect(await store.find(key)).toEqual({ ...invoice, version: 1 });
  });

  test("keeps the same invoice id of two tenants apart", async () => {
    const { store, invoice, key } = setup();
    const other = { ...invoice, tenantId: `${key.tenantId}-b` };
    await store.issue(invoice);

    expect(await store.issue(other)).toEqual({ kind: "issued" });
  });

  test("keeps ids apart that only an escape tells apart", async () => {
    const { store, invoice } = setup();
    const left = { ...invoice, tenantId: `${invoice.tenantId}#a`, invoiceId: "b" };
    const right = { ...invoice, invoiceId: "a#b" };
    const third = { ...invoice, tenantId: `${invoice.tenantId}%23a`, invoiceId: "b" };

    expect(await store.issue(left)).toEqual({ kind: "issued" });
    expect(await store.issue(right)).toEqual({ kind: "issued" });
    expect(await store.issue(third)).toEqual({ kind: "issued" });
  });

  test("turns an open invoice into a paid one", async () => {
    const { store, invoice, key } = setup();
    await store.issue(invoice);

    const paid = { ...invoice, version: 2, payment };
    expect(await store.pay(key, payment)).toEqual({ kind: "paid", invoice: paid });
    expect(await store.find(key)).toEqual(paid);
  });

  test("books the same event once", async () => {
    const { store, invoice, key } = setup();
    await store.issue(invoice);
    await store.pay(key, payment);

    const paid = { ...invoice, version: 2, payment };
    expect(await store.pay(key, payment)).toEqual({ kind: "already-paid", invoice: paid });
    expect(await store.find(key)).toEqual(paid);
  });

  test("books two events about the same payment once", async () => {
    const { store, invoice, key } = setup();
    const charged = { ...payment, paymentId: "pi_1" };
    await store.issue(invoice);
    await store.pay(key, charged);

    const paid = { ...invoice, version: 2, payment: charged };
    const event = { ...charged, eventId: "evt_2" };
    expect(await store.pay(key, event)).toEqual({ kind: "already-paid", invoice: paid });
    const other = { ...event, paymentId: "pi_2" };
    expect((await store.pay(key, other)).kind).toBe("paid-by-other-event");
    expect(await store.find(key)).toEqual(paid);
  });

  test("lets one of two events win that arrive together", async () => {
    const { store, invoice, key } = setup();
    await store.issue(invoice);

    const outcomes = await Promise.all([
      store.pay(key, payment),
      store.pay(key, { ...payment, eventId: "evt_2" }),
    ]);

    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["paid", "paid-by-other-event"]);
  });

  test.each([
    ["amount", { amountMinor: 43_575 }],
    ["currency", { currency: "USD" }],
  ] as const)("refuses a payment of another %s", async (_, difference) => {
    const { store, invoice, key } = setup();
    await store.issue(invoice);

    const outcome = await store.pay(key, { ...payment, ...difference });

    expect(outcome).toEqual({ kind: "amount-mismatch", invoice: { ...invoice, version: 1 } });
    expect(await store.find(key)).toEqual({ ...invoice, version: 1 });
  });

  test("says that an invoice is not there", async () => {
    const { store, key } = setup();

    expect(await store.pay(key, payment)).toEqual({ kind: "not-found" });
  });
});

describe("DynamoDbInvoiceStore", () => {
  test("takes its own write for its own when the answer to it was lost", async () => {
    const proxy = await startReplyLosingProxy(dynamodb.endpoint);
    const lossy = clientFor(proxy.endpoint);
    const store = new DynamoDbInvoiceStore(lossy, invoicesTable.tableName);
    const invoice = issued({}, "lost-replies");
    const key = { tenantId: "lost-replies", invoiceId: invoice.invoiceId };

    proxy.loseNextReply();
    expect(await store.issue(invoice)).toEqual({ kind: "unchanged" });
    proxy.loseNextReply();
    expect((await store.pay(key, payment)).kind).toBe("already-paid");

    lossy.destroy();
    proxy.server.closeAllConnections();
    proxy.server.close();
  });
});

/** Passes requests on; when asked, it hangs up instead of passing the reply back. */
async function startReplyLosingProxy(
  upstream: string,
): Promise<{ server: Server; endpoint: string; loseNextReply: () => void }> {
  let isLosing = false;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (!["connection", "content-length", "expect"].includes(name)) headers.set(name, `${value}`);
    }
    const reply = await fetch(upstream, { method: "POST", headers, body });
    const answer = Buffer.from(await reply.arrayBuffer());
    if (isLosing) {
      isLosing = false;
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status, { "content-type": "application/x-amz-json-1.0" }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    server,
    endpoint: `http://127.0.0.1:${port}`,
    loseNextReply: () => {
      isLosing = true;
    },
  };
}
