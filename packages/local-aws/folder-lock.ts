/** A folder for one process at a time, also after one of them was killed. */

import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FolderBusyError } from "./errors.ts";

/** Lets the next process in. */
export type Unlock = () => Promise<void>;

const LOCK_NAME = "in-use.lock";

/**
 * Takes a folder for this process alone; it must exist.
 *
 * A process that was killed leaves its lock behind; the next one sees that its owner is gone.
 *
 * @throws FolderBusyError when a process that is alive has it
 */
export async function lockFolder(folder: string): Promise<Unlock> {
  const lockFile = join(folder, LOCK_NAME);
  await takeLock(folder, lockFile);
  return () => rm(lockFile, { force: true });
}

async function takeLock(folder: string, lockFile: string): Promise<void> {
  if (await writeLock(lockFile)) return;
  const owner = await readOwner(lockFile);
  if (owner !== undefined && isAlive(owner)) throw busy(folder, owner, lockFile);
  await removeAbandoned(folder, lockFile, owner);
  if (await writeLock(lockFile)) return;
  throw busy(folder, await readOwner(lockFile), lockFile);
}

/** Whether the lock is ours now; a link appears with the file's content or not at all. */
async function writeLock(lockFile: string): Promise<boolean> {
  const written = `${lockFile}.${randomUUID()}`;
  await writeFile(written, `${process.pid}\n`);
  try {
    await link(written, lockFile);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(written, { force: true });
  }
}

/** Moved away before it is judged again, so that two successors cannot remove each other's lock. */
async function removeAbandoned(
  folder: string,
  lockFile: string,
  owner: number | undefined,
): Promise<void> {
  const aside = `${lockFile}.${randomUUID()}`;
  try {
    await rename(lockFile, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return; // Another successor was faster; whoever writes the lock first has the folder.
  }
  const moved = await readOwner(aside);
  if (moved !== owner) {
    await rename(aside, lockFile);
    throw busy(folder, moved, lockFile);
  }
  await rm(aside, { force: true });
}

async function readOwner(lockFile: string): Promise<number | undefined> {
  try {
    const owner = Number.parseInt(await readFile(lockFile, "utf8"), 10);
    return Number.isNaN(owner) ? undefined : owner;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(owner: number): boolean {
  try {
    process.kill(owner, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function busy(folder: string, owner: number | undefined, lockFile: string): FolderBusyError {
  return new FolderBusyError(
    folder,
    owner === undefined ? "it is just starting" : `process ${owner}`,
    lockFile,
  );
}
