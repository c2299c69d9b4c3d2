/** Each promise held or broken, from what was seen. Pure. */

import type { DrillRecord, WorkerRecord } from "./drill-record.ts";
import { handlerRuns } from "./handler-runs.ts";
import type { Judged } from "./judged.ts";
import { messageCalls } from "./message-calls.ts";
import { messagePromises } from "./message-promises.ts";
import type { VerdictRow } from "./report.ts";
import type { Expectation, ExpectedExit } from "./scenario.ts";

/** How far stamps of two processes on a busy machine may lie apart. */
export const SLACK_MS = 250;
/** A worker is asked for its readiness without a pause, so it is known within some requests. */
const UNREADY_WITHIN_MS = 1_000;

/** All promises of one scenario. */
export function judge(record: DrillRecord, expectation: Expectation): readonly VerdictRow[] {
  return judgeAll(record, expectation).map(({ timing: _, ...row }) => ({
    ...row,
    scenario: record.scenario,
  }));
}

/** As `judge`, with the kind of each promise. */
export function judgeAll(record: DrillRecord, expectation: Expectation): readonly Judged[] {
  const calls = messageCalls(record);
  const runs = handlerRuns(record);
  return [
    ...messagePromises({ record, calls, runs, expectation }),
    ...record.workers.flatMap((worker) => [
      exitPromise(worker, expectation.exits?.[worker.name] ?? expectation.usualExit ?? 0),
      ...saysPromises(worker, expectation.says?.[worker.name]),
      ...drainPromises(worker, record),
    ]),
  ];
}

function exitPromise({ name, exit }: WorkerRecord, expected: ExpectedExit): Judged {
  const seen = exit === undefined ? "still runs" : (exit.signal ?? exit.code ?? "unknown");
  const promise = `${name} ends as it should`;
  const allowed: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  return { promise, held: allowed.includes(seen), seen: String(seen), bound: allowed.join(" or ") };
}

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
  const { name, signals, exit, requests, unreadyAtMs, lines } = worker;
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
      held: lastClaimMs <= SLACK_MS,
      seen: claims.length === 0 ? "no claim at all" : `last claim ${signed(lastClaimMs)}`,
      bound: `+${SLACK_MS} ms`,
    },
    ...(unreadyAtMs === undefined
      ? []
      : [
          {
            promise: `${name} is not ready from the signal on`,
            held: since(unreadyAtMs) <= UNREADY_WITHIN_MS,
            seen: signed(since(unreadyAtMs)),
            bound: `+${UNREADY_WITHIN_MS} ms`,
            timing: true as const,
          },
        ]),
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

/** A moment from a signal on. */
export function signed(ms: number): string {
  const whole = Math.round(ms);
  return `${whole < 0 ? "" : "+"}${whole} ms`;
}
