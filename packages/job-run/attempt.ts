/** One attempt in its ledger; a ledger that is down stops no job, and is reported. */

import type { Clock } from "@leasehold/clock";
import type {
  AttemptDelivery,
  AttemptEnding,
  AttemptHistory,
  AttemptLedger,
  AttemptOpening,
  OpenAttempt,
} from "@leasehold/job";
import { LedgerTimeoutError } from "./errors.ts";
import { historyByReceives } from "./receive-count-ledger.ts";
import { type AttemptBudgets, NO_BUDGETS } from "./start-decision.ts";
import { within } from "./within.ts";

/** What was being done when the ledger did not answer, or answered with an error. */
export type LedgerStep = "open" | "end";

/** What an attempt is opened with. */
export interface AttemptParts {
  readonly ledger: AttemptLedger;
  readonly budgets: AttemptBudgets;
  /** How long the ledger may take to answer. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onUncounted: (during: LedgerStep, error: unknown) => void;
}

type AttemptStart =
  | AttemptOpening
  | {
      readonly kind: "unknown";
      readonly receiveCount: number;
      readonly answer: Promise<AttemptOpening>;
    };

/** Opens an attempt; answers at once when the ledger does, and never rejects. */
export function openAttempt(
  delivery: AttemptDelivery,
  parts: AttemptParts,
): Promise<Attempt> | Attempt {
  const answer = ask(() => parts.ledger.open(delivery));
  if ("kind" in answer) return new Attempt(answer, parts);
  return within(answer, patienceOf(parts)).then(
    (opening) => new Attempt(opening, parts),
    (error: unknown) => {
      parts.onUncounted("open", error);
      const { receiveCount } = delivery;
      return new Attempt({ kind: "unknown", receiveCount, answer }, parts);
    },
  );
}

/**
 * One attempt, from its start in the ledger to its ending there. Nothing of it rejects.
 *
 * When its start could not be written its history is not known: the receive count then stands for
 * it, and nothing is exhausted by that. The ledger counts attempts; it does not guard effects.
 */
export class Attempt {
  readonly history: AttemptHistory;
  readonly budgets: AttemptBudgets;
  readonly #parts: AttemptParts;
  readonly #opened: OpenAttempt | undefined;
  /** The answer that did not come in time and may come yet. */
  readonly #late: Promise<AttemptOpening> | undefined;

  constructor(start: AttemptStart, parts: AttemptParts) {
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

  /** Its number: failures before it, and itself. */
  get number(): number {
    return this.history.failures + 1;
  }

  /** Writes how it ended; answers at once when there is nothing to write or to wait for. */
  end(ending: AttemptEnding): Promise<void> | undefined {
    const opened = this.#opened;
    if (opened === undefined) {
      // Its start may have been written all the same, and must not stand there as a crash.
      this.#late?.then((opening) => endIfOpen(opening, ending)).catch(ignore);
      return undefined;
    }
    const answer = ask(() => opened.end(ending));
    if (answer === undefined) return undefined;
    return within(answer, patienceOf(this.#parts)).catch((error: unknown) => {
      this.#parts.onUncounted("end", error);
    });
  }
}

function endIfOpen(opening: AttemptOpening, ending: AttemptEnding): Promise<void> | undefined {
  switch (opening.kind) {
    case "open":
      return opening.end(ending);
  }
}

/** A ledger that throws at once has not answered either. */
function ask<Answer>(call: () => Answer): Answer | Promise<never> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}

function patienceOf({ clock, timeoutMs }: AttemptParts) {
  return { clock, timeoutMs, tooLate: () => new LedgerTimeoutError(timeoutMs) };
}

/** It was reported when it did not open. */
function ignore(): void {}
