/** What the jobs of a shutdown trial do, the same in every library, and what they say of it. */

import { writeSync } from "node:fs";

/** What a job may be told to do. */
export const TRIAL_KINDS = ["work", "until-told", "fail-first", "fail-when-told"] as const;

/** One job's orders. */
export interface TrialOrders {
  /**
   * `work` takes its time; `until-told` ends at SIGUSR2; the first run of `fail-first` throws, that
   * of `fail-when-told` at SIGUSR2.
   */
  readonly do: (typeof TRIAL_KINDS)[number];
  readonly forMs: number;
  /** Goes on over an abort, and does its effect all the same. */
  readonly insists: boolean;
}

const STDOUT = 1;
/** Longer than any trial. */
const LONG_MS = 600_000;
const told = new AbortController();
const run = new Set<string>();
process.on("SIGUSR2", () => told.abort());

/** One line for the bench. Written at once: the process may end in the same breath. */
export function say(event: string, jobId?: string): void {
  const time = new Date().toISOString();
  writeSync(STDOUT, `${JSON.stringify({ event: `trial.${event}`, time, jobId })}\n`);
}

/**
 * Works one job; its effect stands at the end.
 *
 * @throws when it is asked to stop before its effect, or is told to fail
 */
export async function perform(
  jobId: string,
  { do: what, forMs, insists }: TrialOrders,
  stop: AbortSignal,
): Promise<void> {
  say("started", jobId);
  const isFirst = !run.has(jobId);
  run.add(jobId);
  if (isFirst && what === "fail-when-told") await pass(LONG_MS, [told.signal], []);
  if (isFirst && what.startsWith("fail-")) throw new Error("fails the first time");
  await pass(forMs, what === "until-told" ? [told.signal] : [], insists ? [] : [stop]);
  if (!insists && stop.aborted) {
    say("gave-up", jobId);
    throw stop.reason;
  }
  say("effect", jobId);
}

function pass(
  durationMs: number,
  ends: readonly AbortSignal[],
  stops: readonly AbortSignal[],
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    for (const signal of [...ends, ...stops]) {
      if (signal.aborted) end();
      signal.addEventListener("abort", end, { once: true });
    }
  });
}
