/** What may happen to the groups of a FIFO queue and to its workers, as histories by chance. */

import fc from "fast-check";

/** What one run of a job does. */
export type RunScript =
  | { readonly kind: "work"; readonly forMs: number; readonly ignoresAbort: boolean }
  | { readonly kind: "fail" }
  | { readonly kind: "permanent" }
  | { readonly kind: "later"; readonly delayMs: number };

/** One message. */
export interface ScriptedMessage {
  readonly groupId: string;
  /** What is no job has no runs. */
  readonly isJob: boolean;
  /** Since the message before it was sent. */
  readonly afterMs: number;
  /** What its runs do, in order; those after the last one succeed at once. */
  readonly runs: readonly RunScript[];
}

/**
 * What happens to one of the two workers, or to its calls for some time; `taken` makes the first
 * message that is held visible behind its holder's back.
 */
export interface Trouble {
  readonly worker: 0 | 1;
  readonly kind: "drain" | "taken" | "no-extensions" | "no-replies" | "slow-deletes" | "throttled";
  readonly atMs: number;
  /** A worker that was drained has a successor then; calls go well again. */
  readonly forMs: number;
}

/** One history, to the end of which nothing else happens. */
export interface FifoHistory {
  /** Few receives dead-letter, or many. */
  readonly maxReceiveCount: 5 | 100;
  readonly concurrency: number;
  readonly secondWorkerAtMs: number;
  readonly messages: readonly ScriptedMessage[];
  readonly troubles: readonly Trouble[];
}

/** Longer than a job waits in place. */
const LATER: RunScript = { kind: "later", delayMs: 55_000 };

const runScript: fc.Arbitrary<RunScript> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("work" as const),
      // Some outlast a lease that nobody extends.
      forMs: fc.constantFrom(0, 300, 4_000, 7_000, 14_000),
      ignoresAbort: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ kind: "fail" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "permanent" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "later" as const, delayMs: 3_000 }) },
  { weight: 1, arbitrary: fc.constant(LATER) },
);

const message: fc.Arbitrary<ScriptedMessage> = fc.record({
  groupId: fc.constantFrom("a", "a", "a", "b"),
  isJob: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  afterMs: fc.constantFrom(0, 0, 0, 0, 2_500),
  runs: fc.oneof(
    { weight: 9, arbitrary: fc.array(runScript, { maxLength: 3 }) },
    // More than a queue allows that allows few.
    { weight: 1, arbitrary: fc.constant(Array<RunScript>(6).fill(LATER)) },
  ),
});

const trouble: fc.Arbitrary<Trouble> = fc.record({
  worker: fc.constantFrom(0, 0, 1),
  kind: fc.oneof(
    { weight: 2, arbitrary: fc.constant("drain" as const) },
    { weight: 3, arbitrary: fc.constant("taken" as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...(["no-extensions", "no-replies", "slow-deletes", "throttled"] as const),
      ),
    },
  ),
  atMs: fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: 20_000 })),
  forMs: fc.constantFrom(1_500, 6_000, 13_000),
});

/** Few enough troubles that five receives are not used up by them alone. */
export const fifoHistories: fc.Arbitrary<FifoHistory> = fc.record({
  maxReceiveCount: fc.constantFrom(5, 100),
  concurrency: fc.constantFrom(1, 2, 10),
  secondWorkerAtMs: fc.constantFrom(0, 3_000, 15_000),
  messages: fc.array(message, { minLength: 2, maxLength: 7 }),
  troubles: fc.array(trouble, { minLength: 1, maxLength: 3 }),
});
