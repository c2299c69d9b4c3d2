/** What became of each unfinished job, and the exit code that says so. Pure. */

import type { JobIdentity } from "@leasehold/job";

/** What was done with the lease of a job that did not finish before the end. */
export type Disposal =
  /** Given back; visible after its delay. */
  | "released"
  /** Left to run out by itself: the answer is unknown, or no call was possible. */
  | "lapsing"
  /** Lost before or during the drain: another worker may have it. */
  | "lost";

/** One message that this worker held when the drain began and that did not end as a job should. */
export interface UnfinishedJob {
  /** Absent when the message never became a job (unstarted and unread, or malformed). */
  readonly job?: JobIdentity;
  readonly queue: string;
  readonly messageId: string;
  readonly disposal: Disposal;
  readonly started: boolean;
  readonly ignoredAbort: boolean;
  /** The latest moment at which another worker can have it, Unix time; absent when lost. */
  readonly visibleByMs?: number;
}

/** Why the worker ended. */
export type ShutdownCause =
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "request"; readonly by: string }
  | { readonly kind: "fatal"; readonly error: ErrorWords };

/** The one account of a shutdown: for the log, for a file, and for people. */
export interface ShutdownReport {
  readonly cause: ShutdownCause;
  readonly exitCode: number;
  /** One sentence that says what the exit code says. */
  readonly summary: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Time spent in each phase; a phase that was not entered has 0. */
  readonly phasesMs: {
    readonly draining: number;
    readonly aborting: number;
    readonly releasing: number;
    readonly flushing: number;
  };
  readonly unfinished: readonly UnfinishedJob[];
  /** Counted from the moment the drain began. */
  readonly totals: {
    readonly inFlightAtStart: number;
    readonly acked: number;
    readonly retried: number;
    readonly deadLettered: number;
    readonly released: number;
    readonly lapsing: number;
    readonly lost: number;
    readonly pollsLeft: number;
  };
  /** The queues whose polls were open at the end, each once; absent when no poll was. */
  readonly queuesWithPollsLeft?: readonly string[];
}

/** An error as a report has it. */
export interface ErrorWords {
  readonly name: string;
  readonly message: string;
}

/** All that the exit code depends on. */
export interface ExitFacts {
  /** The signal that forced the end, if one did. */
  readonly forcedBy?: string;
  /** An internal fault, which began the drain or came in it. */
  readonly fault?: ErrorWords;
  /** Why a queue could not be reached at the start. */
  readonly unreachable?: ErrorWords;
  readonly unfinished: readonly UnfinishedJob[];
  /** The queue of each poll that is open at the end. */
  readonly pollsLeft: readonly string[];
  readonly exitZeroOnRelease: boolean;
}

/** What an exit code says, worst first. */
export interface ExitVerdict {
  readonly exitCode: number;
  readonly summary: string;
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGTERM: 15,
};

/** The exit code of a process that a signal ends by force, as shells have it. */
export function forcedExitCode(signal: string): number {
  return 128 + (SIGNAL_NUMBERS[signal] ?? 9);
}

/** The exit code, worst first, and the sentence that says what it says. */
export function judgeExit(facts: ExitFacts): ExitVerdict {
  const { exitCode, summary } = judgeWork(facts);
  const polls = facts.pollsLeft;
  if (polls.length === 0) return { exitCode, summary };
  const were = polls.length === 1 ? "poll was" : "polls were";
  const left = `${polls.length} open ${were} left on ${[...new Set(polls)].join(", ")}`;
  const cost = "what they bring is visible after its visibility timeout";
  return { exitCode, summary: `${summary}; ${left}: ${cost}` };
}

function judgeWork(facts: ExitFacts): ExitVerdict {
  const { forcedBy, fault, unreachable, unfinished } = facts;
  const lapsing = unfinished.filter(({ disposal }) => disposal === "lapsing").length;
  const ignoring = unfinished.filter(({ ignoredAbort }) => ignoredAbort).length;
  const interrupted = unfinished.filter(({ started }) => started).length;
  if (forcedBy !== undefined) {
    const summary = `forced to end by ${forcedBy}, ${jobs(unfinished.length)} unfinished`;
    return { exitCode: forcedExitCode(forcedBy), summary };
  }
  if (fault !== undefined) {
    return { exitCode: 70, summary: `internal fault: ${fault.name}: ${fault.message}` };
  }
  if (lapsing > 0) {
    return { exitCode: 74, summary: `${leases(lapsing)} left to run out by itself` };
  }
  if (ignoring > 0) {
    return { exitCode: 76, summary: `${jobs(ignoring)} ignored the abort` };
  }
  if (interrupted > 0) {
    const summary = `the drain deadline came first: ${jobs(interrupted)} given back unfinished`;
    return { exitCode: facts.exitZeroOnRelease ? 0 : 75, summary };
  }
  if (unreachable !== undefined) {
    const summary = `a queue could not be reached at the start: ${unreachable.message}`;
    return { exitCode: 69, summary };
  }
  return { exitCode: 0, summary: "clean: everything claimed was settled or given back unstarted" };
}

function jobs(count: number): string {
  return `${count} ${count === 1 ? "job" : "jobs"}`;
}

function leases(count: number): string {
  return `${count} ${count === 1 ? "lease" : "leases"}`;
}
