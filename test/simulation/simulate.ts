/** Plays histories of whole fleets: many seeds, one with its trace, or breaks of the code. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { htmlReport, type Report, type Timeline } from "@leasehold/drill";
import { addSeen, coverageLines, missing } from "./coverage.ts";
import { type History, historyOf } from "./history.ts";
import type { RangeOrder, RangeResult } from "./play-range.ts";
import { type Profile, profiles } from "./profiles.ts";
import { shrink } from "./shrink.ts";
import { play } from "./world.ts";

const CHUNK = 25;
const MOST_TRIALS = 400;
/** So many failing seeds say enough. */
const MOST_FAILED = 5;

/** Of the progress that was told last. */
let lastTenth = -1;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    from: { type: "string", default: "1" },
    profile: { type: "string" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    html: { type: "string" },
    mutants: { type: "boolean", default: false },
    only: { type: "string", default: "" },
  },
});
const chosen =
  values.profile === undefined ? (Object.keys(profiles) as Profile[]) : [profileOf(values.profile)];
if (values.mutants) {
  const { tryMutants } = await import("./try-mutants.ts");
  process.exitCode = await tryMutants(values.only);
} else if (values.seed !== undefined) {
  process.exitCode = await showSeed(whole("seed", values.seed), chosen[0] ?? "harsh");
} else {
  process.exitCode = await playMany(whole("seeds", values.seeds), whole("from", values.from));
}

function profileOf(name: string): Profile {
  if (Object.hasOwn(profiles, name)) return name as Profile;
  console.error(`--profile must be one of ${Object.keys(profiles).join(", ")}, got ${name}`);
  process.exit(2);
}

function whole(flag: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  console.error(`--${flag} must be a whole number, got ${text}`);
  process.exit(2);
}

async function showSeed(seed: number, profile: Profile): Promise<number> {
  const isTraced = values.trace || values.html !== undefined;
  const { violations, trace, timeline } = await play(historyOf(seed, profile), { isTraced });
  if (values.trace) for (const line of trace) console.log(line);
  if (values.html !== undefined && timeline !== undefined) {
    writeFileSync(values.html, htmlReport(reportOf(violations, timeline)));
    console.log(`the timeline is in ${values.html}`);
  }
  for (const violation of violations) console.log(`VIOLATION: ${violation}`);
  console.log(`seed ${seed}, profile ${profile}: ${violations.length} violations`);
  return violations.length > 0 ? 1 : 0;
}

/** A history as a page: each rule that was broken, and what happened. */
function reportOf(violations: readonly string[], timeline: Timeline): Report {
  const scenario = timeline.title;
  const broken = violations.map((violation) => ({
    ...{ scenario, promise: "every rule of the fleet is kept", held: false, seen: violation },
  }));
  const held = {
    scenario,
    promise: "every rule of the fleet is kept",
    held: true,
    seen: "no breach",
  };
  const verdicts = broken.length > 0 ? broken : [held];
  return { title: `simulation: ${scenario}`, numbers: [], verdicts, timelines: [timeline] };
}

/** The seeds are shared out among the profiles, each of which gets as many. */
async function playMany(seeds: number, from: number): Promise<number> {
  const each = Math.ceil(seeds / chosen.length);
  const orders = chosen.flatMap((profile) => chunksOf(profile, from, each));
  const results: RangeResult[] = [];
  const startedAtMs = performance.now();
  const all = each * chosen.length;
  await Promise.all(
    Array.from({ length: Math.min(4, availableParallelism()) }, async () => {
      const child = fork(join(import.meta.dirname, "play-range.ts"), {
        execArgv: ["--conditions=source"],
      });
      for (let order = orders.shift(); order !== undefined; order = orders.shift()) {
        child.send(order);
        const [result] = (await once(child, "message")) as [RangeResult];
        results.push(result);
        progress(results, all, startedAtMs);
        if (failedOf(results).length >= MOST_FAILED) orders.length = 0;
      }
      child.disconnect();
    }),
  );
  return await judge(results, { each, from, seconds: (performance.now() - startedAtMs) / 1_000 });
}

function chunksOf(profile: Profile, from: number, count: number): RangeOrder[] {
  const chunks: RangeOrder[] = [];
  for (let done = 0; done < count; done += CHUNK) {
    chunks.push({ profile, from: from + done, count: Math.min(CHUNK, count - done) });
  }
  return chunks;
}

function failedOf(results: readonly RangeResult[]) {
  return results.flatMap(({ order, failed }) =>
    failed.map((one) => ({ ...one, profile: order.profile })),
  );
}

function progress(results: readonly RangeResult[], all: number, startedAtMs: number): void {
  const done = results.reduce((sum, { order }) => sum + order.count, 0);
  const rate = (done / (performance.now() - startedAtMs)) * 1_000;
  const text = `${done}/${all} histories, ${rate.toFixed(1)} a second, ${failedOf(results).length} failed`;
  if (process.stderr.isTTY) {
    const filled = Math.round((done / all) * 30);
    process.stderr.write(`\r[${"#".repeat(filled).padEnd(30, ".")}] ${text} `);
    return;
  }
  const tenth = Math.floor((10 * done) / all);
  if (tenth === lastTenth) return;
  lastTenth = tenth;
  console.error(text);
}

async function judge(
  results: readonly RangeResult[],
  {
    each,
    from,
    seconds,
  }: { readonly each: number; readonly from: number; readonly seconds: number },
): Promise<number> {
  if (process.stderr.isTTY) process.stderr.write("\n");
  const failed = failedOf(results);
  const gaps: string[] = [];
  for (const profile of chosen) {
    const seen = new Map<string, number>();
    for (const one of results.filter(({ order }) => order.profile === profile))
      addSeen(seen, one.seen);
    const coverage = { profile, seeds: each, seen };
    for (const line of coverageLines(coverage)) console.log(line);
    if (failed.length === 0) gaps.push(...missing(coverage).map((gap) => `${profile}: ${gap}`));
  }
  for (const gap of gaps) console.log(`TOO RARE  ${gap}`);
  for (const { seed, profile, violations } of failed.slice(0, MOST_FAILED)) {
    console.log(`\nVIOLATION  --profile ${profile} --seed ${seed} --trace`);
    for (const violation of violations.slice(0, 3)) console.log(`  ${violation}`);
  }
  const [first] = failed;
  if (first !== undefined) await showShortest(historyOf(first.seed, first.profile));
  const done = results.reduce((sum, { order }) => sum + order.count, 0);
  console.log(
    `\n${done} histories from seed ${from} in ${seconds.toFixed(0)} s, ${(done / seconds).toFixed(1)} a second: ` +
      `${failed.length} with violations, ${gaps.length} things seen too rarely`,
  );
  return failed.length + gaps.length > 0 ? 1 : 0;
}

async function showShortest(history: History): Promise<void> {
  const isBroken = async (one: History) => (await play(one)).violations.length > 0;
  const shortest = await shrink(history, isBroken, MOST_TRIALS);
  const { trace } = await play(shortest, { isTraced: true });
  console.log(`\nThe shortest history of it that still goes wrong:\n${JSON.stringify(shortest)}\n`);
  for (const line of trace) console.log(line);
}
