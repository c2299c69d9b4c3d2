/** Receipts in a folder, each written whole or not at all. */

import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "@leasehold/clock";
import type { InvoiceKey } from "../invoice/invoice-store.ts";
import { receiptPath } from "./receipt-path.ts";
import type { ReceiptStore, StoreOutcome } from "./receipt-store.ts";

/** Unfinished files; beside the receipts, so that a rename never crosses a file system. */
const INCOMING = ".incoming";
/** No write takes that long: whatever is older was left by a crash. */
const LEFTOVER_AGE_MS = 3_600_000;

/**
 * A receipt is written under another name, flushed to the disk and renamed; so is its folder. A
 * crash at any moment leaves the former receipt, or the new one, or none, and at most an unfinished
 * file in `.incoming`, which a later start removes.
 */
export class FolderReceiptStore implements ReceiptStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(key: InvoiceKey, pdf: Uint8Array): Promise<StoreOutcome> {
    const stored = await this.find(key);
    if (stored !== undefined && Buffer.compare(stored, pdf) === 0) return "unchanged";
    const finalPath = this.#pathOf(key);
    const incomingPath = join(this.#folder, INCOMING, randomUUID());
    await mkdir(dirname(incomingPath), { recursive: true });
    await mkdir(dirname(finalPath), { recursive: true });
    try {
      await writeToDisk(incomingPath, pdf);
      await rename(incomingPath, finalPath);
    } catch (error) {
      await rm(incomingPath, { force: true });
      throw error;
    }
    await flushFolder(dirname(finalPath));
    return stored === undefined ? "stored" : "replaced";
  }

  async find(key: InvoiceKey): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#pathOf(key));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Removes what crashes left behind; files that another worker is writing now are kept. */
  async removeLeftovers(clock: Clock): Promise<number> {
    const incoming = join(this.#folder, INCOMING);
    await mkdir(incoming, { recursive: true });
    let removed = 0;
    for (const name of await readdir(incoming)) {
      const path = join(incoming, name);
      const found = await stat(path).catch(undefinedIfMissing);
      if (found === undefined || clock.wallMs() - found.mtimeMs < LEFTOVER_AGE_MS) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  #pathOf(key: InvoiceKey): string {
    return join(this.#folder, ...receiptPath(key));
  }
}

async function writeToDisk(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Without this a power failure could undo the rename although the job was acked. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
