/** What must be true of every job and its record when a history is over. */

import type { EffectRecord, JobRecord } from "@leasehold/idempotency";
import type { JobPlan } from "./history.ts";

/** A rule that was broken, and by whom. */
export interface BrokenRule {
  readonly who: string;
  readonly rule: string;
}

/** What a history has come to. */
export interface EndFacts {
  /** Messages that are still on the queue. */
  readonly left: number;
  readonly deadLetters: ReadonlySet<string>;
  readonly sent: readonly { readonly messageId: string; readonly job: JobPlan }[];
  /** Messages that were deleted. */
  readonly gone: ReadonlySet<string>;
  /** Jobs whose handler came to its end. */
  readonly completed: ReadonlySet<number>;
  /** Runs that failed, by job. */
  readonly failures: ReadonlyMap<number, number>;
  readonly recordOf: (job: JobPlan) => Promise<JobRecord | undefined>;
  readonly charges: (key: string) => number;
  readonly name: (messageId: string) => string;
}

/** Every rule that does not hold. */
export async function rulesAtTheEnd(facts: EndFacts): Promise<readonly BrokenRule[]> {
  const { left, sent, recordOf } = facts;
  const broken: BrokenRule[] = [];
  const fleet = (rule: string) => void broken.push({ who: "the fleet", rule });
  if (left > 0) fleet(`${left} messages were never settled`);
  for (const { messageId, job } of sent) {
    const record = await recordOf(job);
    const isHopeless = hopeless(job, record);
    for (const rule of messageRules(messageId, job, { isHopeless, record }, facts)) fleet(rule);
    if (record !== undefined && !isHopeless) broken.push(...recordRules(job, record, facts));
  }
  return broken;
}

/** An effect that was the last has finished the job, whatever its handler says after that. */
function hopeless(job: JobPlan, record: JobRecord | undefined): boolean {
  const isForeign = job.isMalformed === true || job.isUnknown === true;
  return isForeign || (job.end === "permanent" && record?.state !== "done");
}

function messageRules(
  messageId: string,
  { n }: JobPlan,
  job: { readonly isHopeless: boolean; readonly record: JobRecord | undefined },
  { left, deadLetters, gone, completed, name }: EndFacts,
): readonly string[] {
  const { isHopeless, record } = job;
  const isDead = deadLetters.has(messageId);
  const isDone = record?.state === "done" || completed.has(n);
  const told = name(messageId);
  return [
    ...(!gone.has(messageId) && !isDead && left === 0 ? [`${told} has vanished`] : []),
    ...(isDead && !isHopeless ? [`${told} was dead-lettered`] : []),
    ...(isHopeless && !isDead ? [`${told} was not dead-lettered`] : []),
    ...(!isHopeless && !isDead && !isDone ? [`${told} was acked and its handler never ended`] : []),
  ];
}

function recordRules(
  { n }: JobPlan,
  record: JobRecord,
  { failures, charges }: EndFacts,
): readonly BrokenRule[] {
  const broken: BrokenRule[] = [];
  const known = failures.get(n) ?? 0;
  const effects = Object.entries(record.effects);
  if (record.failures > known) {
    const rule = `counts ${record.failures} failures of job ${n}: ${known} were`;
    broken.push({ who: "the ledger", rule });
  }
  // A record made only to count the tries of a job without effects stays open and expires.
  const isCountOnly = effects.length === 0 && record.state === "open";
  if (record.state !== "done" && !isCountOnly) {
    const counts = JSON.stringify({ failures: record.failures, effects: record.effects });
    broken.push({ who: "the ledger", rule: `job ${n} is ${record.state}, not done: ${counts}` });
  }
  return [...broken, ...effects.flatMap(([name, effect]) => effectRules(n, name, effect, charges))];
}

function effectRules(
  n: number,
  name: string,
  { providerKey, outcome }: EffectRecord,
  charges: EndFacts["charges"],
): readonly BrokenRule[] {
  const times = charges(providerKey);
  if (outcome !== "ok" || times === 1) return [];
  return [{ who: "the provider", rule: `applied ${name} of job ${n} ${times} times` }];
}
