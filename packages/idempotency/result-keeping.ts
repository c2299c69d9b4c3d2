/** Keeps the results of effects, in the record or beside it, and finds them again. */

import { sha256, toJson } from "./effect-key.ts";
import { ResultMissingError } from "./errors.ts";
import type { StoredResult } from "./ledger-record.ts";
import type { LedgerSession } from "./ledger-session.ts";
import { resultKey } from "./result-store.ts";

/** A result that was kept, and what `once` hands back for it. */
export interface KeptResult {
  readonly stored: StoredResult;
  /** What a later run will be given, too: as it comes out of JSON. */
  readonly value: unknown;
}

/** `undefined` is no JSON. */
const NOTHING = "";
const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 100;

/**
 * Keeps what is picked of a result. Never throws: the effect has happened, and a result that cannot
 * be kept is no reason to forget that.
 */
export async function keepResult(
  session: LedgerSession,
  effect: string,
  pick: () => unknown,
): Promise<KeptResult> {
  let value: unknown;
  let json: string;
  try {
    value = pick();
    json = toJson(`the result of effect ${effect}`, value) ?? NOTHING;
  } catch (error) {
    return { stored: drop(session, effect, reasonOf(error)), value };
  }
  const same = parseResult(json);
  const { options, results } = session.parts;
  if (Buffer.byteLength(json) <= options.inlineBytes) {
    return { stored: { kind: "inline", json }, value: same };
  }
  if (results === undefined) {
    const why = `it has more than ${options.inlineBytes} bytes and there is no result store`;
    return { stored: drop(session, effect, why), value: same };
  }
  return { stored: await keepBeside(session, effect, json), value: same };
}

async function keepBeside(
  session: LedgerSession,
  effect: string,
  json: string,
): Promise<StoredResult> {
  const { clock, results } = session.parts;
  const at = resultKey(sha256(json));
  for (let tries = 1; ; tries += 1) {
    try {
      await results?.put(at, json);
      return { kind: "reference", at };
    } catch (error) {
      if (tries === MOST_TRIES) return drop(session, effect, reasonOf(error));
      await clock.sleep(FIRST_PAUSE_MS * 2 ** tries);
    }
  }
}

function drop({ parts, job }: LedgerSession, effect: string, why: string): StoredResult {
  parts.emit({ kind: "effect.result-dropped", job, effect, why });
  return { kind: "dropped" };
}

/**
 * The result of an effect that has happened.
 * @throws ResultMissingError when it could not be kept, or is not where it was put
 */
export async function loadResult(
  session: LedgerSession,
  effect: string,
  stored: StoredResult | undefined,
): Promise<unknown> {
  if (stored?.kind === "inline") return parseResult(stored.json);
  if (stored?.kind !== "reference") throw new ResultMissingError(effect, "could not be kept");
  let json: string | undefined;
  try {
    json = await session.parts.results?.get(stored.at);
  } catch (cause) {
    throw new ResultMissingError(effect, "cannot be read now", { cause });
  }
  if (json === undefined) throw new ResultMissingError(effect, `is not found at ${stored.at}`);
  return parseResult(json);
}

function parseResult(json: string): unknown {
  return json === NOTHING ? undefined : JSON.parse(json);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
