/** The file of the local payment provider: lines are added and flushed, never changed. */

import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { PaymentSandboxError } from "../errors.ts";
import type { SandboxChange, SandboxCharge } from "./sandbox-change.ts";
import { lockSandboxFile } from "./sandbox-lock.ts";

const FORMAT = "leasehold-payment-sandbox";
const VERSION = 1;
const HEAD = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`;
const NEW_LINE = 0x0a;

/**
 * Each line is the list of changes of one request. A line is on the disk before its request is
 * answered, so whatever kills this process, a client never heard of a charge that is not here; and
 * a charge, its intent and the answer under its key are one line, so none is here without the others.
 */
export class SandboxFile {
  readonly #file: number;
  readonly #unlock: () => void;

  private constructor(file: number, unlock: () => void) {
    this.#file = file;
    this.#unlock = unlock;
  }

  /**
   * Opens or creates the file and hands out what is in it, oldest first. A last line that a crash
   * cut off was never answered, and is removed.
   *
   * @throws PaymentSandboxError when another provider has it, it is a file of something else, or it is
   * damaged before its last line
   */
  static open(path: string, hear: (change: SandboxChange) => void): SandboxFile {
    mkdirSync(dirname(path), { recursive: true });
    // Before the first look: the last line of a provider at work may be half written, and not be torn.
    const unlock = lockSandboxFile(path);
    try {
      return SandboxFile.#openLocked(path, unlock, hear);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  static #openLocked(
    path: string,
    unlock: () => void,
    hear: (change: SandboxChange) => void,
  ): SandboxFile {
    const bytes = readIfThere(path);
    const { changes, wholeBytes } = readLines(path, bytes);
    const file = openSync(path, "a");
    if (wholeBytes < bytes.length) ftruncateSync(file, wholeBytes);
    const opened = new SandboxFile(file, unlock);
    if (wholeBytes === 0) opened.#write(HEAD);
    for (const change of changes) hear(change);
    return opened;
  }

  /** Returns once the line is on the disk. */
  append(changes: readonly SandboxChange[]): void {
    this.#write(`${JSON.stringify(changes)}\n`);
  }

  close(): void {
    closeSync(this.#file);
    this.#unlock();
  }

  #write(line: string): void {
    const bytes = Buffer.from(line);
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#file, bytes, written);
    }
    fsyncSync(this.#file);
  }
}

/**
 * Every charge in the file, oldest first, without a server; the provider may be writing meanwhile.
 *
 * @returns an empty list when the file does not exist
 * @throws PaymentSandboxError when it is a file of something else, or damaged before its last line
 */
export function readCharges(path: string): readonly SandboxCharge[] {
  const { changes } = readLines(path, readIfThere(path));
  return changes.flatMap((change) => (change.kind === "charge" ? [change.charge] : []));
}

interface Lines {
  readonly changes: readonly SandboxChange[];
  /** Up to and with the last line that is whole. */
  readonly wholeBytes: number;
}

function readLines(path: string, bytes: Buffer): Lines {
  const wholeBytes = bytes.lastIndexOf(NEW_LINE) + 1;
  // A crash within the very first write leaves a beginning of the head, and nothing else.
  if (wholeBytes === 0 && HEAD.startsWith(bytes.toString())) return { changes: [], wholeBytes };
  const [head, ...lines] = bytes.subarray(0, wholeBytes).toString().split("\n");
  if (`${head}\n` !== HEAD) {
    throw new PaymentSandboxError(
      `${path} is not a file of this payment sandbox: its first line must be ${HEAD.trim()}. ` +
        "Name another file, or move this one away.",
    );
  }
  const changes = lines.slice(0, -1).flatMap((line, index) => parseLine(path, line, index + 2));
  return { changes, wholeBytes };
}

function parseLine(path: string, line: string, lineNumber: number): readonly SandboxChange[] {
  try {
    const changes: unknown = JSON.parse(line);
    if (Array.isArray(changes)) return changes as SandboxChange[];
  } catch {
    // Told below, like JSON that is no list.
  }
  throw new PaymentSandboxError(
    `line ${lineNumber} of ${path} is not a list of changes: the file is damaged. Move it away.`,
  );
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
