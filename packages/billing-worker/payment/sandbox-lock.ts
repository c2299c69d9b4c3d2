/** The file of a local payment provider for one provider at a time, also after one was killed. */

import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { PaymentSandboxError } from "../errors.ts";

/**
 * Takes the file for this provider alone, by a lock file beside it.
 *
 * A provider that was killed leaves its lock behind; the next one sees that its process is gone.
 *
 * @returns lets the next one in
 * @throws PaymentSandboxError when a process that is alive has it, this one included
 */
export function lockSandboxFile(path: string): () => void {
  const lock = `${path}.lock`;
  if (!writeLock(lock)) {
    const owner = readOwner(lock);
    if (owner !== undefined && isAlive(owner)) throw inUse(path, owner, lock);
    removeAbandoned(path, lock, owner);
    if (!writeLock(lock)) throw inUse(path, readOwner(lock), lock);
  }
  return () => rmSync(lock, { force: true });
}

/** Whether the lock is ours now; a link appears with the file's content or not at all. */
function writeLock(lock: string): boolean {
  const written = `${lock}.${randomUUID()}`;
  writeFileSync(written, `${process.pid}\n`);
  try {
    linkSync(written, lock);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(written, { force: true });
  }
}

/** Moved away before it is judged again, so that two successors cannot remove each other's lock. */
function removeAbandoned(path: string, lock: string, owner: number | undefined): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return; // Another successor was faster; whoever writes the lock first has the file.
  }
  const moved = readOwner(aside);
  if (moved !== owner) {
    renameSync(aside, lock);
    throw inUse(path, moved, lock);
  }
  rmSync(aside, { force: true });
}

function readOwner(lock: string): number | undefined {
  try {
    const owner = Number.parseInt(readFileSync(lock, "utf8"), 10);
    return Number.isNaN(owner) ? undefined : owner;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(owner: number): boolean {
  try {
    process.kill(owner, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function inUse(path: string, owner: number | undefined, lock: string): PaymentSandboxError {
  const who = owner === undefined ? "another payment sandbox" : `process ${owner}`;
  return new PaymentSandboxError(
    `${path} is in use by ${who}: stop it or name another file; ` +
      `if it is no payment sandbox, remove ${lock}`,
  );
}
