/** Port: the record of a job that outlives its deliveries. */

import type { Once } from "./effect.ts";
import type { JobIdentity } from "./identity.ts";
import type { LedgerListener } from "./ledger-event.ts";

/** What became of a job's earlier tries. */
export interface AttemptHistory {
  /** Tries that failed. */
  readonly failures: number;
  /** Tries that were stopped before they were done, since progress was last saved. */
  readonly interruptions: number;
  /** Tries that began and never ended: their worker died. That of a first receive is not seen. */
  readonly crashes: number;
  /** Tries that asked to come back later. */
  readonly putOffs: number;
  /** The numbers stand for what nobody counted; an operator is better not told of them. */
  readonly isEstimate?: true;
}

/** Why a job is not tried any more: given up, or cancelled. */
export interface GivenUp {
  /** A stable word, for example `"attempts-exhausted"`. */
  readonly code: string;
  /** One sentence for an operator; never a payload. */
  readonly detail: string;
  /** How the tries went, by a stable word each. */
  readonly counts?: Readonly<Record<string, number>>;
}

/**
 * Why a job ends here and now, whatever its handler catches or returns. None of them is a failure.
 *
 * - `busy`: another worker has it, or an effect has not settled; come back at `retryAtMs`, wall time.
 * - `fenced`: a newer delivery has it: silence.
 * - `parked`: an operator must decide; the message is stored, this delivery can go.
 * - `lease-lost`: the lease does not reach, or is lost.
 * - `draining`: an effect that cannot end before the drain deadline is not begun.
 * - `store-down`: the ledger cannot be reached, so no effect is begun.
 * - `held-back`: an effect's provider is down or wants a pause; come back at `retryAtMs`, wall time.
 * - `done`, `cancelled`: nothing is left to do, this delivery can go.
 * - `dead`: it has been given up, this delivery belongs to the dead letters.
 */
export type ControlOutcome =
  | { readonly kind: "busy"; readonly retryAtMs: number }
  | { readonly kind: "fenced" }
  | { readonly kind: "parked" }
  | { readonly kind: "lease-lost" }
  | { readonly kind: "draining" }
  | { readonly kind: "store-down" }
  | { readonly kind: "held-back"; readonly retryAtMs: number }
  | { readonly kind: "done" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "dead"; readonly reason: GivenUp };

/** A message as it came, so that it can be sent again. */
export interface MessageCopy {
  /** Name of the queue that it came from. */
  readonly queue: string;
  readonly body: string;
  readonly attributes: Readonly<
    Record<string, { readonly dataType: string; readonly value: string | Uint8Array }>
  >;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly traceHeader?: string;
}

/** What an effect needs to know of the run that it happens in. */
export interface EffectSurroundings {
  /** Until when the lease is safely held if nothing extends it any more, wall time. */
  leaseUntilMs(): number;
  /** How long the lease is safely held if nothing extends it any more; 0 when it is lost. */
  leaseRemainingMs(): number;
  /**
   * Makes the lease reach `forMs` from now, by one extension if need be.
   * @returns whether it does
   */
  reach(forMs: number): Promise<boolean>;
  /** Time to the drain deadline; `undefined` while no drain has begun. */
  drainRemainingMs(): number | undefined;
  /** The signal of the run: aborts when the handler must stop. */
  readonly signal: AbortSignal;
  /** For a job that is parked. */
  copyMessage(): MessageCopy;
  /** When the producer made the job, Unix time. */
  readonly createdAtMs: number;
  readonly payload: unknown;
}

/** Which delivery of which job is to be opened. */
export interface OpenRequest {
  readonly job: JobIdentity;
  readonly messageId: string;
  /**
   * As SQS says. Unlike that of an `AttemptDelivery` it counts no tries on the same lease: a larger
   * one is proof that the lease of an earlier delivery has ended.
   */
  readonly receiveCount: number;
  /** A further try on the same lease (FIFO): what became of the earlier ones is loaded. @defaultValue false */
  readonly retry?: boolean;
  /** Without them attempts are counted and nothing more: `once` refuses. */
  readonly surroundings?: EffectSurroundings;
  /** Every delivery is recorded before its handler starts. @defaultValue false */
  readonly guard?: boolean;
  /** The handler reads its checkpoint, so it must be loaded. @defaultValue false */
  readonly checkpoints?: boolean;
  /** The message came back from the dead letters by an operator's hand. @defaultValue false */
  readonly redriven?: boolean;
}

/** How a run of a job ended. */
export type JobEndingNote =
  /** `result` is kept with the record when it is small. */
  | { readonly kind: "succeeded"; readonly result?: unknown }
  | { readonly kind: "failed" }
  | { readonly kind: "interrupted" }
  | { readonly kind: "put-off" }
  /** The job is dead: nothing will try it again but a redrive. */
  | { readonly kind: "given-up"; readonly reason: GivenUp }
  /** Nobody's doing: neither failure nor interruption. */
  | { readonly kind: "uncounted" };

/** Whether an ending was recorded. */
export type EndAnswer =
  | { readonly kind: "recorded" }
  /** It may not be acked: these effects are open. Come back at `retryAtMs`, wall time. */
  | {
      readonly kind: "unsettled";
      readonly retryAtMs: number;
      readonly effects: readonly string[];
    }
  | { readonly kind: "stopped"; readonly outcome: ControlOutcome };

/** Progress of a job that outlives its run. */
export interface JobCheckpoint {
  /** What was saved last, as it came out of JSON; `undefined` when nothing was. */
  load(): unknown;
  /**
   * Saves at most 4 KB of JSON, and forgets the interruptions counted so far.
   * @throws ControlOutcomeError when the job is not ours any more, or the store cannot be reached
   */
  save(value: unknown): Promise<void>;
}

/** A job open in the ledger: its effects, its progress, and how its run ends. */
export interface OpenJob {
  readonly kind: "open";
  readonly history: AttemptHistory;
  /** @throws ControlOutcomeError, RejectedError, or whatever `run` threw */
  readonly once: Once;
  readonly checkpoint: JobCheckpoint;
  /** Its record is durably done: the message is garbage, whoever holds it. */
  readonly isDone: boolean;
  /** The outcome that this run has come to, whatever its handler made of it. */
  readonly outcome: ControlOutcome | undefined;
  /** An effect's provider seems to be down: should this run fail, that is not the job's failure. */
  readonly isExcused: boolean;
  /** Aborts with a `ControlOutcomeError` as soon as there is one. */
  readonly stopped: AbortSignal;
  /** When the last effect of unknown outcome will have settled, wall time: no delivery earlier. */
  readonly settleAtMs: number | undefined;
  /**
   * Effects of unknown outcome from earlier runs that have settled, and that this run has not asked
   * for: waiting will not close them.
   */
  readonly leftOpen: readonly string[];
  /**
   * Follows an extension of the lease, and hears of an operator's cancellation: one write, or one read
   * as long as there is no record. Never rejects.
   */
  heartbeat(leaseUntilMs: number): Promise<void>;
  /** Records how the run ended. The message is acked only after `recorded`. Never rejects. */
  end(ending: JobEndingNote): Promise<EndAnswer>;
}

/** What opening came to. */
export type JobOpening = OpenJob | Exclude<ControlOutcome, { readonly kind: "draining" }>;

/** The ledger as runs see it. */
export interface JobLedger {
  /** Never rejects. */
  open(request: OpenRequest): Promise<JobOpening>;
}

/** The ledger as a worker has it, from its start to the end of the process. */
export interface WorkerLedger extends JobLedger {
  /** Completions that the store has not taken yet; they are tried on until `stop`. */
  readonly unrecorded: number;
  /** Resolves when there are none. */
  idle(): Promise<void>;
  /** The process ends: gives up, and reports, what the store has not taken. Never rejects. */
  stop(): Promise<void>;
  /** Whether the store answers; one cheap question. Never rejects. */
  isReachable(): Promise<boolean>;
  /** Hears what the ledger reports, from now on. */
  onEvent(listener: LedgerListener): void;
}

/** Thrown by everything of an open job once it has come to a control outcome; catching it is of no use. */
export class ControlOutcomeError extends Error {
  override readonly name = "ControlOutcomeError";
  readonly code = "CONTROL_OUTCOME";
  readonly outcome: ControlOutcome;

  constructor(outcome: ControlOutcome, options?: ErrorOptions) {
    super(`the job ends here: ${outcome.kind}`, options);
    this.outcome = outcome;
  }
}
