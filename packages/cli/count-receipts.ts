/** How many receipts lie in a folder. */

import { readdir } from "node:fs/promises";

/** Finished PDFs, in all folders below; a file that is being written has another name. */
export async function countReceipts(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith(".pdf")).length;
}
