import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  claimPayload,
  fetchPayload,
  folderPayloadStore,
  type PayloadStore,
  parseJobId,
  parseJobType,
  parseTenantId,
  type RawJob,
  readEnvelope,
  writeEnvelope,
} from "@leasehold/job";
import { afterEach, describe, expect, test } from "vitest";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const job = (payload: unknown, tenantId = "acme") => ({
  tenantId: parseTenantId(tenantId),
  jobId: parseJobId("inv-7"),
  jobType: parseJobType("receipt.render"),
  createdAtMs: 0,
  payload,
});

async function setup() {
  const folder = await mkdtemp(join(tmpdir(), "payloads-"));
  folders.push(folder);
  const store = folderPayloadStore(folder);
  /** What a worker receives of a job whose payload was stored. */
  const send = async (payload: unknown, tenantId?: string): Promise<RawJob> => {
    const outgoing = job(payload, tenantId);
    const { ref, key, json } = claimPayload(outgoing);
    await store.put(key, json);
    const { body, attributes } = writeEnvelope({ ...outgoing, payloadRef: ref });
    const reading = readEnvelope(body, attributes);
    if (reading.kind !== "job") throw new Error(reading.kind);
    return reading.job;
  };
  return { folder, store, send };
}

describe("fetchPayload", () => {
  test.each([
    ["a text", "Größe 🧾 \uffff"],
    ["null", null],
    ["an object", { list: [1, { deep: true }] }],
  ])("gets %s back as it was", async (_name, payload) => {
    const { store, send } = await setup();

    expect(await fetchPayload(await send(payload), store)).toEqual({ kind: "ok", payload });
  });

  test("hands on a payload that lies in its message, with or without a store", async () => {
    expect(await fetchPayload(job({ total: 5 }), undefined)).toEqual({
      kind: "ok",
      payload: { total: 5 },
    });
  });

  test("says that this worker has no store", async () => {
    const { send } = await setup();

    expect(await fetchPayload(await send(1), undefined)).toEqual({
      kind: "unavailable",
      reason: "no-payload-store",
      detail: "its payload lies in a store, and this worker was given none",
    });
  });

  test("says that the store is down, and why", async () => {
    const { send } = await setup();
    const cause = new Error("ETIMEDOUT");
    const down = { get: () => Promise.reject(cause) } as unknown as PayloadStore;

    expect(await fetchPayload(await send(1), down)).toMatchObject({
      kind: "unavailable",
      reason: "payload-store-down",
      cause,
    });
  });

  test("says that a payload is gone", async () => {
    const { folder, store, send } = await setup();
    const received = await send(1);
    await rm(join(folder, "acme~822b33ad87c148a0"), { recursive: true });

    expect(await fetchPayload(received, store)).toMatchObject({
      kind: "malformed",
      reason: "payload-gone",
    });
  });

  test.each([
    ["other bytes of the same length", '"hunter3"'],
    ["fewer bytes", '"hunter"'],
    ["nothing", ""],
  ])("takes %s for no payload, and does not show them", async (_name, text) => {
    const { send } = await setup();
    const tampered = { get: async () => text } as unknown as PayloadStore;

    const fetched = await fetchPayload(await send("hunter2"), tampered);

    expect(fetched).toMatchObject({ kind: "malformed", reason: "payload-mismatch" });
    expect(JSON.stringify(fetched)).not.toContain("hunter");
  });

  test("never reads the payload of another tenant", async () => {
    const { store, send } = await setup();
    const { payloadRef } = await send({ iban: "DE02" }, "acme");

    const stolen = { ...job(undefined, "globex"), ...(payloadRef && { payloadRef }) };
    expect(await fetchPayload(stolen, store)).toMatchObject({ reason: "payload-gone" });
  });
});

describe("claimPayload", () => {
  test.each(["..", "../..", "a/b", "C:\\", "x".repeat(256), "Größe GmbH"])(
    "lays the payload of tenant %j within the store",
    (tenantId) => {
      expect(claimPayload(job(1, tenantId)).key).toMatch(
        /^[A-Za-z0-9_-]{1,40}~[0-9a-f]{16}\/receipt\.render\/[0-9a-f]{64}\.json$/,
      );
    },
  );

  test("keeps tenants apart whose names only look alike", () => {
    expect(claimPayload(job(1, "a.b")).key).not.toBe(claimPayload(job(1, "a_b")).key);
  });

  test("refuses what JSON cannot carry, and what nests too deep", () => {
    expect(() => claimPayload(job(undefined))).toThrow("JSON cannot carry undefined");
    expect(() => claimPayload(job(JSON.parse("[".repeat(200) + "]".repeat(200))))).toThrow(
      "deeper than 128 levels",
    );
  });
});

describe("folderPayloadStore", () => {
  test("has nothing where nothing was put", async () => {
    const { store } = await setup();

    expect(await store.get("a/b.json")).toBeUndefined();
  });

  test("lets a payload that is put again grow young again", async () => {
    const { folder, store } = await setup();
    await store.put("a/b.json", "1");
    await utimes(join(folder, "a/b.json"), 0, 0);

    await store.put("a/b.json", "1");

    expect((await stat(join(folder, "a/b.json"))).mtimeMs).toBeGreaterThan(0);
    expect(await readdir(join(folder, "a"))).toEqual(["b.json"]);
  });

  test("says that a folder cannot be written, and leaves nothing half done", async () => {
    const { folder, store } = await setup();
    await writeFile(join(folder, "a"), "no folder");

    await expect(store.put("a/b.json", "1")).rejects.toMatchObject({ code: "EEXIST" });
    await expect(store.get("a/b.json")).rejects.toMatchObject({ code: "ENOTDIR" });
  });
});
