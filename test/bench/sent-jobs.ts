/** Compares what a sender was told of its jobs with what lies on the queue. Pure. */

import type { Told } from "./senders.ts";

/** What is known about one run, from both ends. */
export interface SentJobs {
  /** Numbered from 0. */
  readonly jobs: number;
  readonly told: ReadonlyMap<number, Told>;
  /** The ids of the messages of each job, by its number. */
  readonly messages: ReadonlyMap<number, readonly string[]>;
  /** The ids of the messages that each call brought to the queue. */
  readonly calls: readonly (readonly string[])[];
  /** How many calls were done without their sender learning of it. */
  readonly lostAnswers: number;
}

/** How a run ended for its jobs. */
export interface SentJobsVerdict {
  /** Jobs of which the queue has no message. */
  readonly missing: number;
  /** Messages beyond the first of each job. */
  readonly duplicates: number;
  /**
   * As far as the sender was told: messages of these by calls that were answered, and calls without
   * an answer that no fault lost. A library that keeps answers to itself has some, too.
   */
  readonly needless_duplicates: number;
  /** Told as sent and not there by this id, or told as not sent and there. */
  readonly wrong_results: number;
  /** Jobs of which the sender was told nothing certain. */
  readonly untold: number;
}

/** Judges every job. */
export function judgeSentJobs(run: SentJobs): SentJobsVerdict {
  const verdict = { missing: 0, duplicates: 0, wrong_results: 0, untold: 0 };
  const known = new Set<string>();
  const extra: string[] = [];
  for (let job = 0; job < run.jobs; job += 1) {
    const there = run.messages.get(job) ?? [];
    const told = run.told.get(job) ?? { kind: "unknown" };
    const id = told.kind === "sent" ? (told.messageId ?? there[0]) : undefined;
    if (id !== undefined) known.add(id);
    extra.push(...(id === undefined ? there.slice(1) : there.filter((one) => one !== id)));
    verdict.missing += there.length === 0 ? 1 : 0;
    verdict.duplicates += Math.max(0, there.length - 1);
    verdict.untold += told.kind === "unknown" ? 1 : 0;
    verdict.wrong_results += isWrong(told, there, id) ? 1 : 0;
  }
  return { ...verdict, needless_duplicates: countNeedless(run, known, new Set(extra)) };
}

function isWrong(told: Told, there: readonly string[], id: string | undefined): boolean {
  if (told.kind === "sent") return id === undefined || !there.includes(id);
  return told.kind === "not-sent" && there.length > 0;
}

/** A call of which no message is known to the sender is one whose answer it did not get. */
function countNeedless(
  { calls, lostAnswers }: SentJobs,
  known: ReadonlySet<string>,
  extra: ReadonlySet<string>,
): number {
  const answered = calls.filter((ids) => ids.some((id) => known.has(id)));
  const inAnswered = answered.flat().filter((id) => extra.has(id)).length;
  const unanswered = calls.filter((ids) => ids.length > 0).length - answered.length;
  return inAnswered + Math.max(0, unanswered - lostAnswers);
}
