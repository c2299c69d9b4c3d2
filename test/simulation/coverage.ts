/** What was seen in many histories, and whether that is enough to prove anything. Pure. */

import { type Profile, profiles } from "./profiles.ts";

/** How often what was seen, in so many seeds of a profile. */
export interface Coverage {
  readonly profile: Profile;
  readonly seeds: number;
  readonly seen: ReadonlyMap<string, number>;
}

/** Fewer seeds show too little of anything. */
export const FEWEST_JUDGED = 200;

/** What was seen less often than it must be; the minimum counts for a thousand seeds. */
export function missing({ profile, seeds, seen }: Coverage): readonly string[] {
  if (seeds < FEWEST_JUDGED) return [];
  return Object.entries(profiles[profile].least).flatMap(([what, least]) => {
    const wanted = Math.floor((least * seeds) / 1_000);
    const times = seen.get(what) ?? 0;
    return times < wanted ? [`${what}: ${times} times instead of ${wanted}`] : [];
  });
}

/** Adds what one history has shown. */
export function addSeen(sum: Map<string, number>, seen: Iterable<readonly [string, number]>): void {
  for (const [what, times] of seen) sum.set(what, (sum.get(what) ?? 0) + times);
}

/** What was seen, the rarest first. */
export function coverageLines({ profile, seeds, seen }: Coverage): readonly string[] {
  const sorted = [...seen].sort(([, one], [, other]) => one - other);
  const words = sorted.map(([what, times]) => `${what} ${times}`);
  return [`${profile}: seen in ${seeds} seeds`, ...wrapped(words, 118).map((line) => `  ${line}`)];
}

function wrapped(words: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && line.length + word.length + 2 > width) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line}, ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}
