/** How much memory this process uses, and how much its control group grants it. */

import { readFileSync } from "node:fs";
import type { MemoryUse } from "@leasehold/worker";

/** What a reader looks at. */
export interface MemorySources {
  /** The text of a file, or `undefined` when it cannot be read. @defaultValue the file system */
  readonly read?: (path: string) => string | undefined;
  /** @defaultValue the resident set of this process, all its threads included */
  readonly usedBytes?: () => number;
}

const ROOT = "/sys/fs/cgroup";
/** Version 1 says "no limit" with the largest number of whole pages. */
const NO_LIMIT_BYTES = 2 ** 60;

/**
 * Makes a reader of memory. The limit is read once, for it does not change while a container runs;
 * the use is read each time. There is no answer where nothing limits the process.
 */
export function memoryReader(sources: MemorySources = {}): () => MemoryUse | undefined {
  const { read = readText, usedBytes = () => process.memoryUsage.rss() } = sources;
  const limitBytes = readLimitBytes(read);
  return () => (limitBytes === undefined ? undefined : { usedBytes: usedBytes(), limitBytes });
}

/** The smallest limit of all that apply. */
function readLimitBytes(read: (path: string) => string | undefined): number | undefined {
  const limits = limitFiles(read("/proc/self/cgroup") ?? "")
    .map((path) => Number.parseInt(read(path) ?? "", 10))
    .filter((bytes) => bytes > 0 && bytes < NO_LIMIT_BYTES);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * Where limits may stand. A container usually sees its own group as the root; a process on a host
 * finds its group by its path, and the groups above limit it as well.
 */
function limitFiles(ownGroups: string): readonly string[] {
  const files = [`${ROOT}/memory.max`, `${ROOT}/memory/memory.limit_in_bytes`];
  for (const line of ownGroups.split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    const isVersion2 = controllers === "";
    if (!isVersion2 && !controllers?.split(",").includes("memory")) continue;
    const [folder, file] = isVersion2
      ? [ROOT, "memory.max"]
      : [`${ROOT}/memory`, "memory.limit_in_bytes"];
    files.push(...groupsOf(path).map((group) => `${folder}${group}/${file}`));
  }
  return files;
}

/** `/a/b` is in `/a` and in `/a/b`. */
function groupsOf(path: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // Not this kind of machine, or not for our eyes: then it limits nothing here.
  }
}
