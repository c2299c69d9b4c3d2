/** The folder of one session: where its state and what its jobs produce are kept. */

import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Where a session keeps what. */
export interface SessionFolder {
  readonly path: string;
  /** Whether queues and tables are kept here, so that the next session goes on with them. */
  readonly isKept: boolean;
  readonly receipts: string;
}

/**
 * The folder given, or a new temporary one: a start without a choice finds nothing left over from
 * the last one, and its receipts can still be looked at afterwards.
 */
export async function openSessionFolder(chosen: string | undefined): Promise<SessionFolder> {
  const path = chosen === undefined ? await mkdtemp(join(tmpdir(), "leasehold-")) : resolve(chosen);
  const receipts = join(path, "receipts");
  await mkdir(receipts, { recursive: true });
  return { path, isKept: chosen !== undefined, receipts };
}
