/** The timeline of a history, from what its workers report and its ledger and provider do. */

import type { LeaseEnding, Timeline } from "@leasehold/drill";
import type { JobRecord } from "@leasehold/idempotency";
import type { LeaseRef } from "@leasehold/lease";
import type { WorkerEvent, WorkerPhase } from "@leasehold/worker";

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type Worker = Mutable<Timeline["workers"][number]>;
type Lease = Mutable<Timeline["leases"][number]> & { readonly extensionsMs: number[] };
type Phase = Mutable<Timeline["phases"][number]>;
type Effect = Timeline["effects"][number];

const DRAIN: ReadonlySet<WorkerPhase> = new Set([
  "draining",
  "aborting",
  "releasing",
  "flushing",
] as const);
const ENDINGS: Readonly<Record<string, LeaseEnding>> = {
  "lease.acked": "acked",
  "lease.retried": "retried",
  "lease.released": "released",
  "lease.dead-lettered": "dead-lettered",
  "lease.lost": "lost",
  "lease.lapsing": "lapsed",
};

/** Hears what happens while a history is played, and is asked for its timeline afterwards. */
export class FleetTimeline {
  readonly #nowMs: () => number;
  readonly #workers = new Map<string, Worker>();
  readonly #leases: Lease[] = [];
  readonly #open = new Map<LeaseRef, Lease>();
  readonly #parked = new Set<LeaseRef>();
  readonly #phases: Phase[] = [];
  readonly #lines: Timeline["lines"][number][] = [];
  readonly #effects: Effect[] = [];
  readonly #effectOf = new Map<string, Pick<Effect, "tenantId" | "jobId" | "effect">>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  booted(name: string): void {
    this.#workers.set(name, { name, bootedMs: this.#nowMs() });
  }

  /** By itself or by SIGKILL; what it still held is cut off. */
  exited(name: string, exitCode: number | string): void {
    const worker = this.#workers.get(name);
    if (worker === undefined || worker.exitedMs !== undefined) return;
    worker.exitedMs = this.#nowMs();
    worker.exitCode = exitCode;
    this.#closePhase(name);
    for (const [ref, lease] of this.#open)
      if (lease.worker === name) this.#end(ref, lease, "cut off");
  }

  /** SIGTERM, after which the platform waits for its grace period. */
  signalled(worker: string, graceMs: number): void {
    const atMs = this.#nowMs();
    this.#lines.push({ worker, atMs, kind: "signal", text: "SIGTERM" });
    const text = "SIGKILL of the platform";
    this.#lines.push({ worker, atMs: atMs + graceMs, kind: "deadline", text });
  }

  /** Something that goes wrong on purpose, for one worker or for all. */
  fault(text: string, worker?: string): void {
    const line = { atMs: this.#nowMs(), kind: "fault", text } as const;
    this.#lines.push(worker === undefined ? line : { ...line, worker });
  }

  heard(worker: string, event: WorkerEvent): void {
    if (event.kind === "worker.phase") this.#enter(worker, event.phase);
    if (event.kind === "lease.claimed") this.#claimed(worker, event.lease);
    if (!("lease" in event)) return;
    const lease = this.#open.get(event.lease);
    if (lease === undefined) return;
    if ("job" in event && event.job !== undefined) {
      const { tenantId, jobId, jobType } = event.job;
      Object.assign(lease, { tenantId, jobId, jobType });
    }
    if (event.kind === "job.started") lease.startedMs = this.#nowMs();
    if (event.kind === "lease.extended") lease.extensionsMs.push(this.#nowMs());
    if (event.kind === "job.stopped" && event.why === "parked") this.#parked.add(event.lease);
    const ending = ENDINGS[event.kind];
    if (ending === undefined) return;
    const isParked = ending === "acked" && this.#parked.has(event.lease);
    this.#end(event.lease, lease, isParked ? "parked" : ending);
  }

  /** Each effect that this write moved. */
  wrote(before: JobRecord | undefined, after: JobRecord): void {
    const { tenantId, jobId } = after;
    for (const [effect, now] of Object.entries(after.effects)) {
      const of = { tenantId, jobId, effect };
      this.#effectOf.set(now.providerKey, of);
      const then = before?.effects[effect];
      if (then?.state === now.state && then.nonce === now.nonce) continue;
      const mark = now.outcome === "rejected" ? "rejected" : now.state;
      if (mark === "released") continue;
      const text = `attempt ${now.attempts}`;
      this.#effects.push({ ...of, atMs: this.#nowMs(), mark, text });
    }
    const effect = after.parked?.effect ?? "job";
    if (after.state === "parked" && before?.state !== "parked") {
      this.#effects.push({ tenantId, jobId, effect, atMs: this.#nowMs(), mark: "parked" });
    }
  }

  /** The provider did what a request with this key asked for. */
  applied(key: string): void {
    const of = this.#effectOf.get(key);
    if (of !== undefined) this.#effects.push({ ...of, atMs: this.#nowMs(), mark: "applied" });
  }

  timeline(title: string): Timeline {
    const endMs = this.#nowMs();
    for (const lease of this.#open.values()) lease.toMs = endMs;
    for (const phase of this.#phases)
      if (phase.toMs === Number.POSITIVE_INFINITY) phase.toMs = endMs;
    return {
      ...{ title, startedAtMs: 0, endMs },
      ...{ workers: [...this.#workers.values()], leases: this.#leases, phases: this.#phases },
      ...{ lines: this.#lines, effects: this.#effects },
    };
  }

  #claimed(worker: string, ref: LeaseRef): void {
    const { queue, messageId } = ref;
    const fromMs = this.#nowMs();
    const held = { fromMs, toMs: fromMs, ending: "open", extensionsMs: [] } as const;
    const lease: Lease = { worker, queue, messageId, ...held, extensionsMs: [] };
    this.#leases.push(lease);
    this.#open.set(ref, lease);
  }

  #end(ref: LeaseRef, lease: Lease, ending: LeaseEnding): void {
    lease.toMs = this.#nowMs();
    lease.ending = ending;
    this.#open.delete(ref);
  }

  #enter(worker: string, phase: WorkerPhase): void {
    this.#closePhase(worker);
    if (!DRAIN.has(phase)) return;
    const fromMs = this.#nowMs();
    this.#phases.push({ worker, phase, fromMs, toMs: Number.POSITIVE_INFINITY });
  }

  #closePhase(worker: string): void {
    const last = this.#phases.findLast((phase) => phase.worker === worker);
    if (last?.toMs === Number.POSITIVE_INFINITY) last.toMs = this.#nowMs();
  }
}
