/** What happened in one run, in order: the form that drill, simulation and report share. */

/** How a lease ended, seen from outside the worker. */
export type LeaseEnding =
  /** The message was deleted: its job is done. */
  | "acked"
  /** Given back after a failure, to be received again after a delay. */
  | "retried"
  /** Given back unfinished, by a drain or before its start. */
  | "released"
  /** Moved to the dead-letter queue. */
  | "dead-lettered"
  /** Put aside until an operator says what became of an effect. */
  | "parked"
  /** It ended without its worker: SQS refused the handle, or another worker received the message. */
  | "lost"
  /** Left to run out: no call was possible or its answer stayed unknown. */
  | "lapsed"
  /** The process died while it held it. */
  | "cut off"
  /** Still held when the run ended. */
  | "open";

/** One process (or simulated worker) from its start to its exit. */
export interface TimelineWorker {
  /** Unique in its timeline; a worker that is started again is another one. */
  readonly name: string;
  readonly bootedMs: number;
  /** Absent while it still runs at the end. */
  readonly exitedMs?: number;
  /** An exit code, or the name of the signal that ended the process. */
  readonly exitCode?: number | string;
}

/** One lease on one message, from its claim to its ending. */
export interface TimelineLease {
  readonly worker: string;
  readonly queue: string;
  readonly messageId: string;
  readonly tenantId?: string;
  readonly jobId?: string;
  readonly jobType?: string;
  /** The claim. */
  readonly fromMs: number;
  /** When its handler began; absent when it never did. */
  readonly startedMs?: number;
  readonly toMs: number;
  readonly ending: LeaseEnding;
  readonly extensionsMs: readonly number[];
}

/** A phase of a worker's drain: draining, aborting, releasing, flushing. */
export interface TimelinePhase {
  readonly worker: string;
  readonly phase: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A moment that explains what follows; without a worker it concerns all of them. */
export interface TimelineLine {
  readonly worker?: string;
  readonly atMs: number;
  readonly kind: "signal" | "deadline" | "fault" | "note";
  readonly text: string;
}

/** One step of a side effect; without a worker it was seen at the other side only. */
export interface TimelineEffect {
  readonly worker?: string;
  readonly tenantId?: string;
  readonly jobId: string;
  /** The effect's name in its job, for example `charge`. */
  readonly effect: string;
  readonly atMs: number;
  readonly mark: "started" | "applied" | "done" | "unknown" | "rejected" | "parked";
  readonly text?: string;
}

/** One run. All times but `startedAtMs` are ms on one axis, whose 0 is the start of the run. */
export interface Timeline {
  /** The scenario whose verdicts it explains, or what names a history: its seed and profile. */
  readonly title: string;
  /** Unix time of the axis' 0; 0 for a simulation. */
  readonly startedAtMs: number;
  readonly endMs: number;
  readonly workers: readonly TimelineWorker[];
  readonly leases: readonly TimelineLease[];
  readonly phases: readonly TimelinePhase[];
  readonly lines: readonly TimelineLine[];
  readonly effects: readonly TimelineEffect[];
}

/** A timeline contradicts itself; `problems` names each place and value. A bug of who made it. */
export class TimelineError extends Error {
  override readonly name = "TimelineError";
  readonly code = "TIMELINE_INVALID";
  readonly problems: readonly string[];

  constructor(title: string, problems: readonly string[]) {
    const shown = problems.slice(0, MOST_SHOWN).join("; ");
    const more = problems.length > MOST_SHOWN ? `; and ${problems.length - MOST_SHOWN} more` : "";
    super(`the timeline "${title}" cannot be drawn: ${shown}${more}`);
    this.problems = problems;
  }
}

const MOST_SHOWN = 10;
const ENDINGS: ReadonlySet<string> = new Set<LeaseEnding>([
  "acked",
  "retried",
  "released",
  "dead-lettered",
  "parked",
  "lost",
  "lapsed",
  "cut off",
  "open",
]);
const LINES: ReadonlySet<string> = new Set<TimelineLine["kind"]>([
  "signal",
  "deadline",
  "fault",
  "note",
]);
const MARKS: ReadonlySet<string> = new Set<TimelineEffect["mark"]>([
  "started",
  "applied",
  "done",
  "unknown",
  "rejected",
  "parked",
]);

/**
 * The same run with everything in the order in which it happened. What lies past `endMs` moves the
 * end: a late answer is no fault.
 * @throws TimelineError naming all that no drawing could be true to.
 */
export function orderTimeline(timeline: Timeline): Timeline {
  const problems = [
    ...timesProblems(timeline),
    ...wordProblems(timeline),
    ...workerProblems(timeline),
  ];
  if (problems.length > 0) throw new TimelineError(timeline.title, problems);
  const leases = timeline.leases.map((lease) => ({
    ...lease,
    extensionsMs: lease.extensionsMs.toSorted((one, other) => one - other),
  }));
  return {
    ...timeline,
    endMs: latestMs(timeline),
    workers: timeline.workers.toSorted((one, other) => one.bootedMs - other.bootedMs),
    leases: leases.toSorted((one, other) => one.fromMs - other.fromMs || one.toMs - other.toMs),
    phases: timeline.phases.toSorted((one, other) => one.fromMs - other.fromMs),
    lines: timeline.lines.toSorted((one, other) => one.atMs - other.atMs),
    effects: timeline.effects.toSorted((one, other) => one.atMs - other.atMs),
  };
}

function latestMs({ endMs, workers, leases, phases, lines, effects }: Timeline): number {
  const times = [
    endMs,
    ...workers.flatMap(({ bootedMs, exitedMs }) => [bootedMs, exitedMs ?? 0]),
    ...leases.map(({ toMs }) => toMs),
    ...phases.map(({ toMs }) => toMs),
    ...lines.map(({ atMs }) => atMs),
    ...effects.map(({ atMs }) => atMs),
  ];
  return times.reduce((latest, atMs) => Math.max(latest, atMs), 0);
}

/** Every time in its place: from the axis' start on, and in the order that its record claims. */
function timesProblems(timeline: Timeline): string[] {
  const { endMs, workers, leases, phases, lines, effects } = timeline;
  return [
    ...outOfOrder("the run", { from: 0, endMs }),
    ...workers.flatMap(({ name, bootedMs, exitedMs }) =>
      outOfOrder(`worker ${name}`, { bootedMs, exitedMs }),
    ),
    ...leases.flatMap((lease) => {
      const { messageId, worker, fromMs, startedMs, toMs, extensionsMs } = lease;
      const place = `the lease of ${worker} on ${messageId}`;
      return [
        ...outOfOrder(place, { fromMs, startedMs, toMs }),
        ...extensionsMs.flatMap((extensionMs) => outOfOrder(place, { fromMs, extensionMs })),
      ];
    }),
    ...phases.flatMap(({ worker, phase, fromMs, toMs }) =>
      outOfOrder(`${phase} of ${worker}`, { fromMs, toMs }),
    ),
    ...lines.flatMap(({ kind, text, atMs }) => outOfOrder(`the ${kind} "${text}"`, { atMs })),
    ...effects.flatMap(({ effect, jobId, mark, atMs }) =>
      outOfOrder(`${effect} of job ${jobId} (${mark})`, { atMs }),
    ),
  ];
}

function outOfOrder(place: string, times: Readonly<Record<string, number | undefined>>): string[] {
  const problems: string[] = [];
  let before: readonly [name: string, atMs: number] = ["the start", 0];
  for (const [name, atMs] of Object.entries(times)) {
    if (atMs === undefined) continue;
    if (!Number.isFinite(atMs)) {
      problems.push(`${place}: ${name} must be a number of ms, got ${atMs}`);
      continue;
    }
    if (atMs < before[1])
      problems.push(`${place}: ${name} ${atMs} comes before ${before[0]} (${before[1]})`);
    before = [name, atMs];
  }
  return problems;
}

function wordProblems({ leases, lines, effects }: Timeline): string[] {
  const unknown = (what: string, words: readonly string[], known: ReadonlySet<string>) =>
    [...new Set(words)]
      .filter((word) => !known.has(word))
      .map((word) => `"${word}" is no ${what}; known are ${[...known].join(", ")}`);
  return [
    ...unknown(
      "ending",
      leases.map(({ ending }) => ending),
      ENDINGS,
    ),
    ...unknown(
      "kind of line",
      lines.map(({ kind }) => kind),
      LINES,
    ),
    ...unknown(
      "mark of an effect",
      effects.map(({ mark }) => mark),
      MARKS,
    ),
  ];
}

function workerProblems({ workers, leases, phases, lines, effects }: Timeline): string[] {
  const names = workers.map(({ name }) => name);
  const known = new Set(names);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const named = [...leases, ...phases, ...lines, ...effects].flatMap(({ worker }) => worker ?? []);
  const strangers = [...new Set(named)].filter((name) => !known.has(name));
  return [
    ...twice.map((name) => `two workers are named ${name}; name each start of a process apart`),
    ...strangers.map((name) => `${name} is not among the workers (${names.join(", ")})`),
  ];
}
