import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { S3Client } from "@aws-sdk/client-s3";
import { s3PayloadStore } from "@leasehold/job/s3";
import { afterEach, describe, expect, test } from "vitest";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** As much of S3 as keeps objects, over HTTP; `isDown` makes it answer 503. */
async function setup() {
  const objects = new Map<string, { readonly body: Buffer; readonly type: string | undefined }>();
  const state = { isDown: false };
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "", "http://s3").pathname);
    const body = Buffer.concat(await request.toArray());
    if (state.isDown) return void response.writeHead(503).end();
    if (request.method === "PUT") {
      objects.set(path, { body, type: request.headers["content-type"] });
      return void response.end();
    }
    const found = objects.get(path);
    if (found !== undefined) return void response.end(found.body);
    response.writeHead(404, { "content-type": "application/xml" });
    response.end("<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    forcePathStyle: true,
    maxAttempts: 1,
  });
  closing.push(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const store = s3PayloadStore({ client, bucket: "jobs", prefix: "payloads/" });
  return { store, objects, state };
}

describe("s3PayloadStore", () => {
  test("keeps a payload under its key, and gets it back whole", async () => {
    const { store, objects } = await setup();
    const json = JSON.stringify({ text: "Größe 🧾 ".repeat(100_000) });

    await store.put("acme~0123/receipt.render/0a.json", json);

    expect(await store.get("acme~0123/receipt.render/0a.json")).toBe(json);
    expect([...objects].map(([path, { type }]) => [path, type])).toEqual([
      ["/jobs/payloads/acme~0123/receipt.render/0a.json", "application/json"],
    ]);
  });

  test("has nothing where nothing was put", async () => {
    const { store } = await setup();

    expect(await store.get("acme~0123/receipt.render/0a.json")).toBeUndefined();
  });

  test("does not take a bucket that is down for an empty one", async () => {
    const { store, state } = await setup();
    state.isDown = true;

    await expect(store.get("a")).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });
    await expect(store.put("a", "1")).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } });
  });
});
