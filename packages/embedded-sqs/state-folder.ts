/** Keeps an account in a folder: a snapshot, and a journal of what has changed since. */

import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { AccountState } from "./account-state.ts";
import { DamagedStateError } from "./errors.ts";
import type { AccountChange } from "./queue-change.ts";

const SNAPSHOT = "snapshot.ndjson";
const FORMAT = 1;
/** A journal of this size is replaced by a snapshot, unless the last snapshot was larger. */
const LARGE_JOURNAL_BYTES = 32 * 1024 * 1024;
/** Lines of a snapshot are written in pieces of about this size. */
const PIECE_LENGTH = 1024 * 1024;

interface Head {
  readonly format: number;
  /** Which journal goes on from this snapshot. */
  readonly generation: number;
}

/**
 * Each line of a file is a list of changes that belong together. A request's line is written before
 * its answer is given, so a killed process loses nothing that it had answered (a machine that loses
 * power may: nothing is forced to the disk). A snapshot is complete under another name before it
 * takes its place, and names the journal that follows it, so each moment of a crash leaves a pair
 * that fits together.
 */
export class StateFolder {
  readonly #folder: string;
  #generation = 0;
  #journal: number | undefined;
  #journalBytes = 0;
  #snapshotBytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Reads what is there into `state`, which is empty, and begins a new journal.
   * @throws DamagedStateError naming the file, when something other than the last line of the
   * journal cannot be read. Nothing was changed then.
   */
  open(state: AccountState): void {
    mkdirSync(this.#folder, { recursive: true });
    const snapshot = this.#read(SNAPSHOT);
    if (snapshot !== undefined) {
      const [head, ...lines] = splitLines(snapshot);
      this.#generation = readHead(this.#path(SNAPSHOT), head);
      for (const line of lines) apply(line, state, this.#path(SNAPSHOT));
    }
    this.#replay(state);
    this.#writeSnapshot(state);
  }

  /** Writes what one request has changed; now and then a new snapshot of `state` instead. */
  append(changes: readonly AccountChange[], state: AccountState): void {
    if (this.#journal === undefined) return;
    this.#journalBytes += writeWhole(this.#journal, `${JSON.stringify(changes)}\n`);
    if (this.#journalBytes > Math.max(LARGE_JOURNAL_BYTES, this.#snapshotBytes)) {
      this.#writeSnapshot(state);
    }
  }

  /** Ends writing. May be called twice. */
  close(): void {
    if (this.#journal !== undefined) closeSync(this.#journal);
    this.#journal = undefined;
  }

  #replay(state: AccountState): void {
    const name = journalName(this.#generation);
    const bytes = this.#read(name);
    if (bytes === undefined) return;
    const isWhole = bytes.at(-1) === NEW_LINE;
    const lines = splitLines(bytes);
    // The line that a crash cut off was never answered.
    if (!isWhole) lines.pop();
    for (const line of lines) apply(line, state, this.#path(name));
  }

  #writeSnapshot(state: AccountState): void {
    const generation = this.#generation + 1;
    const unfinished = this.#path(`${SNAPSHOT}.unfinished`);
    const file = openSync(unfinished, "w");
    this.#snapshotBytes = writeSnapshot(file, { format: FORMAT, generation }, state);
    closeSync(file);
    this.close();
    this.#journal = openSync(this.#path(journalName(generation)), "w");
    this.#journalBytes = 0;
    this.#generation = generation;
    renameSync(unfinished, this.#path(SNAPSHOT));
    for (const name of readdirSync(this.#folder)) {
      if (/^journal-\d+\.ndjson$/.test(name) && name !== journalName(generation)) {
        rmSync(this.#path(name));
      }
    }
  }

  #read(name: string): Buffer | undefined {
    try {
      return readFileSync(this.#path(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

const NEW_LINE = 0x0a;

function journalName(generation: number): string {
  return `journal-${generation}.ndjson`;
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(NEW_LINE, start);
    lines.push(bytes.subarray(start, end === -1 ? bytes.length : end));
    start = end === -1 ? bytes.length : end + 1;
  }
  return lines;
}

function readHead(file: string, line: Buffer | undefined): number {
  const head = parse(line, file) as Partial<Head>;
  if (head.format === FORMAT && Number.isInteger(head.generation)) return head.generation as number;
  throw new DamagedStateError(
    file,
    `its first line is not the head of a snapshot of format ${FORMAT}`,
  );
}

function apply(line: Buffer, state: AccountState, file: string): void {
  const changes = parse(line, file);
  if (!Array.isArray(changes)) throw new DamagedStateError(file, "a line is not a list of changes");
  for (const change of changes as AccountChange[]) state.apply(change);
}

function parse(line: Buffer | undefined, file: string): unknown {
  try {
    return JSON.parse(line?.toString() ?? "");
  } catch (error) {
    throw new DamagedStateError(file, "a line is not JSON", { cause: error });
  }
}

function writeSnapshot(file: number, head: Head, state: AccountState): number {
  let bytes = 0;
  let piece = `${JSON.stringify(head)}\n`;
  for (const change of state.snapshot()) {
    piece += `${JSON.stringify([change])}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    bytes += writeWhole(file, piece);
    piece = "";
  }
  return bytes + writeWhole(file, piece);
}

function writeWhole(file: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written);
  }
  return bytes.length;
}
