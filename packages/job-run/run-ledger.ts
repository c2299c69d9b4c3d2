/** What a run has with its ledger: the attempt that is open, how its end is written, what stands then. */

import type { ControlOutcome, EndAnswer, GivenUp, JobIdentity, OpenJob } from "@leasehold/job";
import type { Lease, ReleaseClass } from "@leasehold/lease";
import type { Attempt } from "./attempt.ts";
import { keepHeartbeat } from "./heartbeat.ts";
import {
  attemptEnding,
  type Decision,
  type Ending,
  type HandlerOutcome,
  type RunOutcome,
} from "./job-ending.ts";
import type { RunParts } from "./run-parts.ts";
import { decideRecorded, decideStopped, settleDelayMs } from "./stopped-run.ts";
import { stopFactsOf } from "./try-decision.ts";

/** What it works with. */
export type RunLedgerParts = Pick<
  RunParts,
  "clock" | "policy" | "random" | "heartbeatEveryMs" | "onEvent"
>;

/** How often leases are extended when nobody says so. */
const HEARTBEAT_EVERY_MS = 20_000;

/** The ledger's side of one run. */
export class RunLedger {
  readonly #lease: Lease;
  readonly #parts: RunLedgerParts;
  /** Until its end is written. */
  #attempt: Attempt | undefined;
  /** The job as it is open in its ledger, also when that attempt has ended. */
  #effects: OpenJob | undefined;

  constructor(lease: Lease, parts: RunLedgerParts) {
    this.#lease = lease;
    this.#parts = parts;
  }

  /** Whether the job's record is durably done, so that nobody needs its message any more. */
  get isGarbage(): boolean {
    return this.#effects?.isDone === true || this.#effects?.outcome?.kind === "done";
  }

  /** An attempt begins. */
  begin(attempt: Attempt): void {
    this.#attempt = attempt;
    this.#effects = attempt.effects;
  }

  /** The job's ledger says how the delivery ends, and nothing is run. */
  keptFrom(job: JobIdentity, outcome: ControlOutcome): Decision {
    const decision = decideStopped(outcome, stopFactsOf(this.#facts));
    this.#tell(job, decision, "open");
    return decision;
  }

  /** Its earlier attempts say that it is not to be run again. */
  refuse(job: JobIdentity, reason: GivenUp): Decision {
    const { code, detail } = reason;
    const { ref: lease } = this.#lease;
    this.#parts.onEvent({ kind: "job.given-up", lease, job, reason: code, detail });
    return { outcome: "dead-lettered", ending: { kind: "dead-letter", reason } };
  }

  /** Follows the lease from now on; returns how to stop. */
  keepHeartbeat(): () => void {
    const { clock, heartbeatEveryMs: everyMs = HEARTBEAT_EVERY_MS } = this.#parts;
    const effects = this.#effects;
    if (effects === undefined) return () => {};
    return keepHeartbeat({ clock, lease: this.#lease, effects, everyMs });
  }

  /** Whether the end of a try has to be recorded before anything is said of it. */
  get mustRecord(): boolean {
    return this.#attempt?.effects !== undefined;
  }

  /** Writes the decision to the job ledger, and says what stands after that. */
  async record(job: JobIdentity, decided: Decision, handler?: HandlerOutcome): Promise<Decision> {
    const answer = await this.end(attemptEnding(decided, handler));
    if (this.#lease.lost.aborted) return decided;
    const facts = stopFactsOf(this.#facts, this.#effects);
    const decision = decideRecorded(decided, answer ?? undefined, facts);
    this.#tell(job, decision, "run");
    return decision;
  }

  /** Writes how the attempt ended, unless that is written already. */
  end(ending: Parameters<Attempt["end"]>[0]): Promise<EndAnswer | undefined> | undefined {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    return attempt?.end(ending);
  }

  /** Writes an ending that SQS is told of as well. */
  endAs(outcome: RunOutcome, ending: Ending): Promise<EndAnswer | undefined> | undefined {
    return this.end(attemptEnding({ outcome, ending }));
  }

  /** The ending of a run that is given up, as far as its ledger lets SQS be spoken to. */
  givenBack(delayMs: number, releaseClass: ReleaseClass): Ending {
    const kind = this.#effects?.outcome?.kind;
    if (kind === "fenced" || kind === "lease-lost") return { kind: "let-go", code: kind };
    const longestMs = Math.max(delayMs, settleDelayMs(stopFactsOf(this.#facts, this.#effects)));
    return { kind: "release", delayMs: longestMs, class: releaseClass };
  }

  get #facts() {
    return { lease: this.#lease, run: this.#parts };
  }

  #tell(job: JobIdentity, { stop, ending }: Decision, during: "open" | "run"): void {
    if (stop === undefined) return;
    const delay = "delayMs" in ending ? { delayMs: ending.delayMs } : {};
    const { ref: lease } = this.#lease;
    this.#parts.onEvent({ kind: "job.stopped", lease, job, why: stop, during, ...delay });
  }
}
