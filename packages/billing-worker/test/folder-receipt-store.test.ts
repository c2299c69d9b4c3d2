import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@leasehold/clock/manual";
import { afterEach, describe, expect, test } from "vitest";
import { FolderReceiptStore } from "../receipt/folder-receipt-store.ts";

const key = { tenantId: "acme", invoiceId: "INV-1" };
const pdf = Buffer.from("%PDF-1.7 one");
const folders: string[] = [];

async function setup() {
  const folder = await mkdtemp(join(tmpdir(), "receipts-"));
  folders.push(folder);
  return { folder, store: new FolderReceiptStore(folder) };
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

describe("FolderReceiptStore", () => {
  test("keeps a receipt where a person looks for it", async () => {
    const { folder, store } = await setup();

    expect(await store.put(key, pdf)).toBe("stored");

    expect(await readFile(join(folder, "acme", "INV-1.pdf"))).toEqual(pdf);
    expect(await store.find(key)).toEqual(pdf);
    expect(await readdir(join(folder, ".incoming"))).toEqual([]);
  });

  test("changes nothing when the same receipt comes again, and replaces another", async () => {
    const { store } = await setup();
    await store.put(key, pdf);

    expect(await store.put(key, pdf)).toBe("unchanged");
    expect(await store.put(key, Buffer.from("%PDF-1.7 two"))).toBe("replaced");

    expect(await store.find(key)).toEqual(Buffer.from("%PDF-1.7 two"));
  });

  test("replaces half a receipt that something else left at its place", async () => {
    const { store } = await setup();
    await store.put(key, pdf.subarray(0, 5));

    expect(await store.put(key, pdf)).toBe("replaced");
  });

  test("shows a reader nothing or a whole receipt while many workers write it", async () => {
    const { store, folder } = await setup();
    const large = Buffer.alloc(1_000_000, "%PDF");

    const writes = Promise.all(Array.from({ length: 8 }, () => store.put(key, large)));
    const seen = new Set<number | undefined>();
    let isWriting = true;
    void writes.finally(() => {
      isWriting = false;
    });
    while (isWriting) seen.add((await store.find(key))?.length);
    await writes;

    expect([...seen].filter((length) => length !== undefined && length !== 1_000_000)).toEqual([]);
    expect(await readdir(join(folder, "acme"))).toEqual(["INV-1.pdf"]);
  });

  test("leaves no file behind when the receipt cannot get its name", async () => {
    const { store, folder } = await setup();
    await writeFile(join(folder, "acme"), "a file where the tenant's folder should be");

    await expect(store.put(key, pdf)).rejects.toThrow(/EEXIST|ENOTDIR/);

    expect(await readdir(folder)).not.toContain("INV-1.pdf");
  });

  test("removes what a crash left an hour ago, and keeps what is being written", async () => {
    const { store, folder } = await setup();
    const clock = new ManualClock(Date.UTC(2026, 0, 1, 12));
    await store.removeLeftovers(clock);
    const place = (name: string) => join(folder, ".incoming", name);
    await writeFile(place("old"), "half");
    await utimes(place("old"), new Date(), new Date(Date.UTC(2026, 0, 1, 10, 59)));
    await writeFile(place("new"), "half");
    await utimes(place("new"), new Date(), new Date(Date.UTC(2026, 0, 1, 11, 59)));

    expect(await store.removeLeftovers(clock)).toBe(1);

    expect(await readdir(join(folder, ".incoming"))).toEqual(["new"]);
  });
});
