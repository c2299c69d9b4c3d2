/** One attempt that is only counted; a ledger that is down stops no job, and is reported. */

import type { Clock } from "@leasehold/clock";
import type {
  AttemptDelivery,
  AttemptHistory,
  AttemptLedger,
  AttemptOpening,
  ControlOutcome,
  JobEndingNote,
  OpenAttempt,
} from "@leasehold/job";
import type { Attempt } from "./attempt.ts";
import { LedgerTimeoutError } from "./errors.ts";
import { historyByReceives } from "./receive-count-ledger.ts";
import { type AttemptBudgets, NO_BUDGETS } from "./start-decision.ts";
import { within } from "./within.ts";

/** What was being done when the ledger did not answer, or answered with an error. */
export type LedgerStep = "open" | "end";

/** What counting works with. */
export interface CountingParts {
  readonly ledger: AttemptLedger;
  readonly budgets: AttemptBudgets;
  /** How long the ledger may take to answer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onUncounted: (during: LedgerStep, error: unknown) => void;
}

type CountedStart =
  | OpenAttempt
  | {
      readonly kind: "unknown";
      readonly receiveCount: number;
      readonly answer: Promise<AttemptOpening>;
    };

type Counted = Attempt | Extract<ControlOutcome, { readonly kind: "dead" }>;

/** Opens an attempt; answers at once when the ledger does, and never rejects. */
export function countAttempt(
  delivery: AttemptDelivery,
  parts: CountingParts,
): Promise<Counted> | Counted {
  const answer = ask(() => parts.ledger.open(delivery));
  if ("kind" in answer) return startOf(answer, parts);
  return within(answer, patienceOf(parts)).then(
    (opening) => startOf(opening, parts),
    (error: unknown) => {
      parts.onUncounted("open", error);
      const { receiveCount } = delivery;
      return new CountedAttempt({ kind: "unknown", receiveCount, answer }, parts);
    },
  );
}

function startOf(opening: AttemptOpening, parts: CountingParts): Counted {
  return opening.kind === "open" ? new CountedAttempt(opening, parts) : opening;
}

/**
 * One attempt in a ledger that counts.
 *
 * When its start could not be written its history is not known: the receive count then stands for
 * it, and nothing is exhausted by that. The ledger counts attempts; it does not guard effects.
 */
class CountedAttempt implements Attempt {
  readonly kind = "open";
  readonly history: AttemptHistory;
  readonly budgets: AttemptBudgets;
  readonly #parts: CountingParts;
  readonly #opened: OpenAttempt | undefined;
  /** The answer that did not come in time and may come yet. */
  readonly #late: Promise<AttemptOpening> | undefined;

  constructor(start: CountedStart, parts: CountingParts) {
    this.#parts = parts;
    switch (start.kind) {
      case "open":
        this.#opened = start;
        this.history = start.history;
        this.budgets = parts.budgets;
        break;
      case "unknown":
        this.#late = start.answer;
        this.history = historyByReceives(start.receiveCount);
        this.budgets = NO_BUDGETS;
        break;
    }
  }

  get number(): number {
    return this.history.failures + 1;
  }

  end(ending: JobEndingNote): Promise<undefined> | undefined {
    const opened = this.#opened;
    if (opened === undefined) {
      // Its start may have been written all the same, and must not stand there as a crash.
      this.#late?.then((opening) => endIfOpen(opening, ending)).catch(ignore);
      return undefined;
    }
    const answer = ask(() => opened.end(ending));
    if (answer === undefined) return undefined;
    return within(answer, patienceOf(this.#parts)).then(
      () => undefined,
      (error: unknown) => void this.#parts.onUncounted("end", error),
    );
  }
}

function endIfOpen(opening: AttemptOpening, ending: JobEndingNote): Promise<void> | undefined {
  return opening.kind === "open" ? opening.end(ending) : undefined;
}

/** A ledger that throws at once has not answered either. */
function ask<Answer>(call: () => Answer): Answer | Promise<never> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}

function patienceOf({ clock, timeoutMs }: CountingParts) {
  return { clock, timeoutMs, tooLate: () => new LedgerTimeoutError(timeoutMs) };
}

/** It was reported when it did not open. */
function ignore(): void {}
