/** What an effect must be: a name that fits a record, and options that make sense. Pure. */

import type { Effect, Recovery } from "@leasehold/job";
import { LedgerUseError } from "./errors.ts";

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;

/** @throws LedgerUseError naming every problem */
export function checkEffect(name: string, effect: Effect<unknown, unknown>): void {
  const problems: string[] = [];
  if (typeof name !== "string" || !NAME.test(name)) {
    problems.push(
      `its name must be 1 to 64 lower-case letters, digits, dots, dashes or underscores, ` +
        `got ${JSON.stringify(name)}`,
    );
  }
  const { timeoutMs, recover, run } = effect;
  if (!isDuration(timeoutMs)) {
    problems.push(`timeoutMs must be a number of milliseconds above 0, got ${timeoutMs}`);
  }
  if (typeof run !== "function") problems.push("run must be a function");
  problems.push(...recoveryProblems("recover", recover));
  if (problems.length > 0) throw new LedgerUseError(`effect ${name}: ${problems.join("; ")}`);
}

function recoveryProblems(what: string, recovery: Recovery<unknown> | undefined): string[] {
  switch (recovery?.kind) {
    case "replay": {
      const { windowMs, after } = recovery;
      const window = isDuration(windowMs)
        ? []
        : [`${what}.windowMs must be a number of milliseconds above 0, got ${windowMs}`];
      const isEnd = after?.kind === "query" || after?.kind === "park";
      const end = isEnd ? [] : [`${what}.after must be query(...) or park()`];
      return [...window, ...end, ...(isEnd ? recoveryProblems(`${what}.after`, after) : [])];
    }
    case "query": {
      const { lookup, settleMs } = recovery;
      const isSettle = settleMs === undefined || settleMs === 0 || isDuration(settleMs);
      return [
        ...(typeof lookup === "function" ? [] : [`${what}.lookup must be a function`]),
        ...(isSettle ? [] : [`${what}.settleMs must be a number of milliseconds, got ${settleMs}`]),
      ];
    }
    case "park":
    case "rerun":
      return [];
    default:
      return [
        `${what} must say what to do when nobody knows whether it happened: ` +
          `replay(...), query(...), park() or rerun()`,
      ];
  }
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
