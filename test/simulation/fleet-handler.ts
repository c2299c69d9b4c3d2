/** What the jobs of a simulated fleet do: the steps of their plans, told to the judge as they come. */

import {
  type Job,
  type JobContext,
  type JobIdentity,
  PermanentJobError,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import type { SimProcess } from "../support/sim/sim-process.ts";
import type { SimProvider } from "../support/sim/sim-provider.ts";
import type { History, JobPlan, Step } from "./history.ts";
import type { Judge } from "./judge.ts";

/** A machine that was suspended is noticed at the next extension that is due: an extension period. */
const NOTICED_WITHIN_MS = 3_500;
const DAY_MS = 86_400_000;

/** The handler of every job of one history, in whichever process. */
export class FleetHandler {
  readonly #history: History;
  readonly #judge: Judge;
  readonly #provider: SimProvider;
  readonly #runs = new Map<number, number>();

  constructor(history: History, judge: Judge, provider: SimProvider) {
    this.#history = history;
    this.#judge = judge;
    this.#provider = provider;
  }

  /** Runs one job as its plan says; what it tells the judge is the truth of the history. */
  async handle(
    { payload: { n } }: Job<{ n: number }>,
    context: JobContext,
    process: SimProcess,
  ): Promise<unknown> {
    const job = this.#history.jobs.find((one) => one.n === n) as JobPlan;
    const run = (this.#runs.get(n) ?? 0) + 1;
    this.#runs.set(n, run);
    this.#judge.attempted(process.name, job, context.attempt);
    const ended = this.#judge.started({
      ...{ worker: process.name, messageId: this.#judge.messageOf(job), signal: context.signal },
      draining: context.draining,
      isBeyondReach: () => !process.isRunning || process.isDrowsy(NOTICED_WITHIN_MS),
    });
    try {
      for (const [index, step] of job.steps.entries()) {
        if (step.do !== "save" && index < savedSteps(job, context)) continue;
        await this.#perform(step, index, { job, context, process });
        if (process.isRunning && !process.isDrowsy(NOTICED_WITHIN_MS)) {
          const messageId = this.#judge.messageOf(job);
          this.#judge.believes(process.name, messageId, context.lease.remainingMs());
        }
        if (job.isQuiet === true && context.signal.aborted) return undefined;
      }
      if (run <= job.failures) throw new Error("fails this time");
      if (job.end === "permanent") throw new PermanentJobError("never");
      this.#judge.completed(job);
      return job.end === "done" ? context.done("done") : undefined;
    } catch (error) {
      if (!context.signal.aborted) this.#judge.threw(job);
      throw error;
    } finally {
      ended();
    }
  }

  async #perform(
    step: Step,
    index: number,
    { job, context, process }: { job: JobPlan; context: JobContext; process: SimProcess },
  ): Promise<void> {
    switch (step.do) {
      case "work":
        await process.sleep(step.forMs, context.signal);
        if (job.isQuiet !== true) context.signal.throwIfAborted();
        return;
      case "ignore-abort":
        return await process.sleep(step.forMs);
      case "block":
        process.pause(step.forMs);
        return await process.gate(Promise.resolve());
      case "save":
        if (typeOf(job) === "sim.saving") await context.checkpoint.save(index + 1);
        return;
      case "charge":
        return await this.#charge(step, { job, context, process });
    }
  }

  async #charge(
    { effect, last, isSwallowed }: Extract<Step, { readonly do: "charge" }>,
    { job, context, process }: { job: JobPlan; context: JobContext; process: SimProcess },
  ): Promise<void> {
    const charging = context.once(
      effect,
      { n: job.n },
      {
        ...{ timeoutMs: 2_000, last: last === true },
        recover: { kind: "replay", windowMs: DAY_MS, after: { kind: "park" } },
        run: ({ key }) => this.#provider.charge(key, process),
      },
    );
    // As people write it who think that a job without its charge is still a job.
    await (isSwallowed === true ? charging.catch(() => undefined) : charging);
  }
}

function savedSteps(job: JobPlan, context: JobContext): number {
  if (typeOf(job) !== "sim.saving") return 0;
  return Number(context.checkpoint.load() ?? 0);
}

/** The type of a job, by what it does. */
export function typeOf({ steps, n, isUnknown }: JobPlan): string {
  if (isUnknown === true) return "sim.unknown";
  if (steps.some((step) => step.do === "save")) return "sim.saving";
  return n % 3 === 0 ? "sim.guarded" : "sim.plain";
}

/** Who a job is to its ledger. */
export function identityOf(job: JobPlan): JobIdentity {
  return {
    tenantId: parseTenantId(job.tenant),
    jobId: parseJobId(`job-${job.n}`),
    jobType: parseJobType(typeOf(job)),
  };
}
