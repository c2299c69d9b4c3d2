/** Each promise held or broken, from what was seen. Pure. */

import type { DrillRecord, WorkerRecord } from "./drill-record.ts";
import { type Judged, toRows } from "./judged.ts";
import { type MessageFacts, messageFacts, messagePromises } from "./message-promises.ts";
import type { VerdictRow } from "./report.ts";
import type { Expectation, ExpectedExit } from "./scenario.ts";

/** How far stamps of two processes on a busy machine may lie apart. */
export const SLACK_MS = 250;
/** A worker is asked for its readiness without a pause, so it is known within some requests. */
const UNREADY_WITHIN_MS = 1_000;

/** All promises of one scenario. */
export function judge(record: DrillRecord, expectation: Expectation): readonly VerdictRow[] {
  return toRows(judgeAll(messageFacts(record, expectation)), record.scenario);
}

/** As `judge`, with what a busy machine excuses of each promise. */
export function judgeAll(facts: MessageFacts): readonly Judged[] {
  const { record, expectation } = facts;
  return [
    ...messagePromises(facts),
    ...record.workers.flatMap((worker) => [
      exitPromise(worker, expectation.exits?.[worker.name] ?? expectation.usualExit ?? 0),
      ...saysPromises(worker, expectation.says?.[worker.name]),
      ...drainPromises(worker, record),
    ]),
  ];
}

function exitPromise({ name, exit, noise }: WorkerRecord, expected: ExpectedExit): Judged {
  const end = exit === undefined ? "still runs" : (exit.signal ?? exit.code ?? "unknown");
  const promise = `${name} ends as it should`;
  const allowed: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  const held = allowed.includes(end);
  const words = noise.slice(-MOST_LAST_WORDS).join(" | ").slice(0, MOST_SHOWN);
  // Nobody can find out later why a process died.
  const seen = held || words === "" ? String(end) : `${end}; its last words: ${words}`;
  return { promise, held, seen, bound: allowed.join(" or ") };
}

const MOST_LAST_WORDS = 4;

function saysPromises(
  { name, lines, noise }: WorkerRecord,
  pattern: RegExp | undefined,
): readonly Judged[] {
  if (pattern === undefined) return [];
  const told = [...lines.map((line) => JSON.stringify(line)), ...noise];
  const found = told.find((text) => pattern.test(text));
  const seen = found === undefined ? "it did not" : found.slice(0, MOST_SHOWN);
  return [{ promise: `${name} says what is the matter`, held: found !== undefined, seen }];
}

const MOST_SHOWN = 300;

/** What a drain owes, whoever asked for it. */
function drainPromises(worker: WorkerRecord, { timings }: DrillRecord): readonly Judged[] {
  const { name, signals, exit, requests, lines } = worker;
  const [first] = signals;
  const started = lines.find(({ event }) => event === "drain.started");
  if (first === undefined || started === undefined) return [];
  const since = (atMs: number) => atMs - first.atMs;
  const { exitAfterMs, killAfterMs } = timings.drain;
  const claims = requests.filter(({ action }) => action === "ReceiveMessage");
  const lastClaimMs = Math.max(...claims.map(({ arrivedAtMs }) => since(arrivedAtMs)));
  const isKilled = exit?.signal === "SIGKILL";
  return [
    {
      promise: `${name} claims nothing after the signal`,
      // By the first tick of the drain: a busy machine may bring the signal late.
      held: lastClaimMs <= since(started.atMs) + SLACK_MS,
      seen: claims.length === 0 ? "no claim at all" : `last claim ${signed(lastClaimMs)}`,
      bound: `${signed(since(started.atMs) + SLACK_MS)}, from its drain on`,
    },
    ...unreadyPromises(worker, { drainAtMs: started.atMs, since }),
    ...releasePromise(worker, { timings, since }),
    ...(exit === undefined || isKilled
      ? []
      : [
          {
            promise: `${name} is gone before the platform would kill`,
            held: since(exit.atMs) < killAfterMs,
            seen: `${signed(since(exit.atMs))} (by itself at +${exitAfterMs} ms at the latest)`,
            bound: `+${killAfterMs} ms`,
          },
        ]),
  ];
}

type Since = (atMs: number) => number;

/** Whoever asks once the drain has started must be refused; how soon that is depends on the machine. */
function unreadyPromises(
  { name, readyAtMs = 0, unreadyAtMs }: WorkerRecord,
  { drainAtMs, since }: { readonly drainAtMs: number; readonly since: Since },
): readonly Judged[] {
  const promise = `${name} is not ready from the signal on`;
  const bound = `+${UNREADY_WITHIN_MS} ms`;
  if (readyAtMs > drainAtMs + SLACK_MS) {
    return [{ promise, held: false, seen: `still ready ${signed(since(readyAtMs))}`, bound }];
  }
  if (unreadyAtMs === undefined) return [];
  const seenMs = since(unreadyAtMs);
  const overMs = seenMs - UNREADY_WITHIN_MS;
  return [{ promise, held: overMs <= 0, seen: signed(seenMs), bound, overMs }];
}

/** What it gives back itself is given back while the contract leaves time for it. */
function releasePromise(
  { name, lines, signals }: WorkerRecord,
  { timings, since }: { readonly timings: DrillRecord["timings"]; readonly since: Since },
): readonly Judged[] {
  const releases = lines.filter(
    ({ event, atMs }) => event === "lease.released" && atMs >= (signals[0]?.atMs ?? 0),
  );
  if (releases.length === 0) return [];
  const { drainMs, abortMs, releaseMs } = timings.drain;
  const boundMs = drainMs + abortMs + releaseMs;
  const lastMs = since(Math.max(...releases.map(({ atMs }) => atMs)));
  return [
    {
      promise: `${name} has released everything in time`,
      ...{ held: lastMs <= boundMs, seen: signed(lastMs), bound: `+${boundMs} ms` },
      overMs: lastMs - boundMs,
    },
  ];
}

/** A moment from a signal on. */
export function signed(ms: number): string {
  const whole = Math.round(ms);
  return `${whole < 0 ? "" : "+"}${whole} ms`;
}
