/** What must hold of every drain: its hint, its releases over a handler's head, its end and what it says. */

import type { ShutdownReport, WorkerEvent } from "@leasehold/worker";
import type { History } from "./history.ts";

/** A handler, as far as a drain is concerned with it. */
export interface DrainedHandler {
  readonly worker: string;
  readonly messageId: string;
  /** The hint that it was given. */
  readonly draining: AbortSignal;
}

/** What was seen of one worker's drain. */
interface Seen {
  readonly ignoring: Set<string>;
  /** Until when messages are hidden at most whose handlers go on, by message. */
  readonly hiddenUntilMs: Map<string, number>;
}

/** The drains of one history. Each method returns the rules that were broken, in words. */
export class DrainWatch {
  readonly #nowMs: () => number;
  readonly #nameOf: (messageId: string) => string;
  /** Somebody kept processes from running, so that they were later than they had meant to be. */
  readonly #isHindered: boolean;
  readonly #isStopped: boolean;
  readonly #drains = new Map<string, Seen>();

  constructor(
    { incidents, jobs }: Pick<History, "incidents" | "jobs">,
    nowMs: () => number,
    nameOf: (messageId: string) => string,
  ) {
    this.#nowMs = nowMs;
    this.#nameOf = nameOf;
    this.#isStopped = incidents.some(({ kind }) => kind === "SIGSTOP" || kind === "suspended");
    const isBlocked = jobs.some(({ steps }) => steps.some((step) => step.do === "block"));
    this.#isHindered = this.#isStopped || isBlocked;
  }

  hear(worker: string, event: WorkerEvent, live: Iterable<DrainedHandler>): readonly string[] {
    if (event.kind === "drain.started") {
      this.#drains.set(worker, { ignoring: new Set(), hiddenUntilMs: new Map() });
    }
    const drain = this.#drains.get(worker);
    if (drain === undefined) return [];
    if (event.kind === "job.ignored-abort") drain.ignoring.add(event.lease.messageId);
    // After a pause both come at once: then it did stop.
    if (event.kind === "job.abort-answered") drain.ignoring.delete(event.lease.messageId);
    if (event.kind === "lease.released" && event.class === "ignored-abort") {
      drain.hiddenUntilMs.set(event.lease.messageId, this.#nowMs() + event.delayMs);
    }
    if (event.kind !== "drain.escalated") return [];
    return [...live]
      .filter((one) => one.worker === worker && !one.draining.aborted)
      .map(
        ({ messageId }) => `has not told the handler of ${this.#nameOf(messageId)} that it drains`,
      );
  }

  /** The platform had to kill it. */
  overstayed(): readonly string[] {
    return this.#isStopped ? [] : ["is still there at the end of its grace"];
  }

  exited(worker: string, report: ShutdownReport): readonly string[] {
    const drain = this.#drains.get(worker);
    return [...codeRules(report), ...(drain === undefined ? [] : this.#endRules(drain, report))];
  }

  #endRules(drain: Seen, { unfinished }: ShutdownReport): readonly string[] {
    const rows = new Map(unfinished.map((row) => [row.messageId, row]));
    const broken: string[] = [];
    for (const messageId of drain.ignoring) {
      if (rows.get(messageId)?.ignoredAbort === false) {
        broken.push(
          `does not report that the handler of ${this.#nameOf(messageId)} ignored its abort`,
        );
      }
    }
    for (const [messageId, untilMs] of drain.hiddenUntilMs) {
      if (this.#isHindered || untilMs >= this.#nowMs()) continue;
      broken.push(`shows ${this.#nameOf(messageId)} to others while its own handler is at it`);
    }
    return broken;
  }
}

/** The code, worst first, as the rows of the report have it. */
function codeRules({ exitCode, unfinished }: ShutdownReport): readonly string[] {
  // Forced, an internal fault: they are worse than whatever is unfinished.
  if (exitCode >= 128 || exitCode === 70) return [];
  const wanted = unfinished.some(({ disposal }) => disposal === "lapsing")
    ? [74]
    : unfinished.some(({ ignoredAbort }) => ignoredAbort)
      ? [76]
      : unfinished.some(({ started }) => started)
        ? [75]
        : [0, 69];
  return wanted.includes(exitCode) ? [] : [`exits ${exitCode} instead of ${wanted.join(" or ")}`];
}
