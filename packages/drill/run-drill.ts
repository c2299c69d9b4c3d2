/** Plays scenarios with a target, some at a time, and judges each. */

import { elapsedMs, now, systemClock } from "@leasehold/clock";
import type { LocalAwsOptions } from "@leasehold/local-aws";
import type { DrillRecord } from "./drill-record.ts";
import { DrillStage } from "./drill-stage.ts";
import type { DrillTarget } from "./drill-target.ts";
import { excuseSlow, isOnlySlow, toRows } from "./judged.ts";
import { timelineOf } from "./line-timeline.ts";
import { messageFacts, restartGaps } from "./message-promises.ts";
import type { VerdictRow } from "./report.ts";
import { type Expectation, type Scenario, unfitness } from "./scenario.ts";
import type { Timeline } from "./timeline.ts";
import { judgeAll } from "./verdict.ts";

/** One scenario with the target that it is played with. */
export interface DrillPart {
  readonly scenario: Scenario;
  readonly target: DrillTarget;
}

/** What came of one scenario. */
export interface DrillResult {
  readonly name: string;
  readonly target: string;
  /** Why it was not played; absent when it was. */
  readonly skipped?: string;
  readonly verdicts: readonly VerdictRow[];
  readonly timeline?: Timeline;
  /** From each release to the next start elsewhere. */
  readonly restartGapsMs: readonly number[];
  readonly tookMs: number;
}

/** How a drill is run. */
export interface DrillRunOptions {
  /** @defaultValue 4: scenarios mostly wait; 1 at an endpoint, where they share their queues */
  readonly atATime?: number;
  /** Where AWS is. @defaultValue each scenario its own, in this process */
  readonly aws?: LocalAwsOptions;
  /** Told of each as it ends. */
  readonly onResult?: (result: DrillResult, done: number) => void;
}

const PATIENCE_MS = 180_000;

/**
 * Plays every part and returns their results in order.
 *
 * A bound that has to do with speed alone and is missed by little is tried once more; missed again, it
 * is reported as slow and does not fail the drill. Everything else fails at once.
 */
export async function runDrill(
  parts: readonly DrillPart[],
  { aws, atATime = aws?.mode === "endpoint" ? 1 : 4, onResult }: DrillRunOptions = {},
): Promise<readonly DrillResult[]> {
  const results: DrillResult[] = [];
  const waiting = [...parts.entries()].toSorted(byLength);
  let done = 0;
  let heavy: Promise<unknown> = Promise.resolve();
  const playInTurn = (part: DrillPart): Promise<DrillResult> => {
    if (part.scenario.isHeavy !== true) return playPart(part, aws);
    const result = heavy.then(() => playPart(part, aws));
    heavy = result;
    return result;
  };
  const work = async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const result = await playInTurn(part[1]);
      results[part[0]] = result;
      done += 1;
      onResult?.(result, done);
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}

/**
 * Jobs that cannot be told what to do may be such as a drain does not let begin, a charge that could
 * not end in time for example: they go back, and the exit code says so.
 */
function expectationFor({ expect }: Scenario, { slowType }: DrillTarget): Expectation {
  return slowType === undefined ? expect : { ...expect, usualExit: [0, 75], backlog: true };
}

/** The longest first, so that nothing long is left for the end. */
function byLength(
  [, { scenario: one }]: readonly [number, DrillPart],
  [, { scenario: other }]: readonly [number, DrillPart],
): number {
  return (other.extraMs ?? 0) - (one.extraMs ?? 0);
}

async function playPart(
  { scenario, target }: DrillPart,
  aws: LocalAwsOptions | undefined,
): Promise<DrillResult> {
  const started = now(systemClock);
  const about = { name: scenario.name, target: target.name };
  const skipped = unfitness(scenario, target) ?? scenario.lacking?.();
  if (skipped !== undefined) {
    return { ...about, skipped, verdicts: [], restartGapsMs: [], tookMs: 0 };
  }
  const expectation = expectationFor(scenario, target);
  const tookMs = () => elapsedMs(systemClock, started);
  try {
    const play = async () => messageFacts(await playOnce(scenario, target, aws), expectation);
    let facts = await play();
    let judged = judgeAll(facts);
    if (isOnlySlow(judged)) {
      facts = await play();
      judged = judgeAll(facts).map(excuseSlow);
    }
    return {
      ...about,
      verdicts: toRows(judged, scenario.name),
      timeline: timelineOf(facts.record),
      restartGapsMs: restartGaps(facts),
      tookMs: tookMs(),
    };
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    const row = { scenario: scenario.name, promise: "comes to its end", held: false, seen };
    return { ...about, verdicts: [row], restartGapsMs: [], tookMs: tookMs() };
  }
}

async function playOnce(
  scenario: Scenario,
  target: DrillTarget,
  aws: LocalAwsOptions | undefined,
): Promise<DrillRecord> {
  const { name, numbers = {}, work, play, extraMs = 0 } = scenario;
  const orders = { scenario: name, target, numbers, work, ...(aws !== undefined && { aws }) };
  await using stage = await DrillStage.open(orders);
  const patienceMs = PATIENCE_MS + extraMs;
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const cancel = systemClock.schedule(patienceMs, () => {
    reject(new Error(`waited ${patienceMs / 1_000} s, at the end for ${stage.awaited}`));
  });
  try {
    await Promise.race([play(stage), tooLong]);
    return await stage.record();
  } finally {
    cancel();
  }
}
