/** The payload store in a folder that producers and workers share: for one machine, or a shared disk. */

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PayloadStore } from "./payload-store.ts";

/**
 * A store in `folder`, which is made when it is missing. A payload appears whole or not at all, also
 * when the process ends while it is written.
 *
 * @example
 * createProducer({ client, queueUrl, clock, claimCheck: { store: folderPayloadStore("/mnt/jobs") } });
 */
export function folderPayloadStore(folder: string): PayloadStore {
  return {
    put: async (key, json) => {
      const path = join(folder, key);
      const unfinished = `${path}.${randomUUID()}`;
      await mkdir(dirname(path), { recursive: true });
      try {
        await writeFile(unfinished, json, { flush: true });
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    get: async (key) => {
      try {
        return await readFile(join(folder, key), "utf8");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw error;
      }
    },
  };
}
