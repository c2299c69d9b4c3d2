/** The timeline of one scenario, from its workers' lines and requests. Pure. */

import type { DrillRecord, WorkerRecord } from "./drill-record.ts";
import type {
  LeaseEnding,
  Timeline,
  TimelineLease,
  TimelineLine,
  TimelinePhase,
  TimelineWorker,
} from "./timeline.ts";
import type { LogLine } from "./worker-process.ts";

const ENDINGS: Readonly<Record<string, LeaseEnding>> = {
  "lease.acked": "acked",
  "lease.discarded": "acked",
  "lease.retried": "retried",
  "lease.released": "released",
  "lease.dead-lettered": "dead-lettered",
  "lease.lost": "lost",
  "lease.lapsing": "lapsed",
};

const DRAIN_PHASES: ReadonlySet<string> = new Set([
  "draining",
  "aborting",
  "releasing",
  "flushing",
]);

/** Draws what was seen; moments count from the scenario's start. */
export function timelineOf(record: DrillRecord): Timeline {
  const { scenario, startedAtMs, endedAtMs, workers } = record;
  const at = (atMs: number) => Math.max(0, atMs - startedAtMs);
  const draw = (worker: WorkerRecord) => new WorkerDrawing(worker, record, at);
  const drawings = workers.map(draw);
  return {
    title: scenario,
    startedAtMs,
    endMs: at(endedAtMs),
    workers: drawings.map((drawing) => drawing.worker()),
    leases: drawings.flatMap((drawing) => drawing.leases()),
    phases: drawings.flatMap((drawing) => drawing.phases()),
    lines: drawings.flatMap((drawing) => drawing.lines()),
    effects: (record.effectMoments ?? []).map(({ atMs, ...effect }) => ({
      ...{ ...effect, atMs: at(atMs), mark: "applied" as const },
    })),
  };
}

class WorkerDrawing {
  readonly #worker: WorkerRecord;
  readonly #record: DrillRecord;
  readonly #at: (atMs: number) => number;

  constructor(worker: WorkerRecord, record: DrillRecord, at: (atMs: number) => number) {
    this.#worker = worker;
    this.#record = record;
    this.#at = at;
  }

  worker(): TimelineWorker {
    const { name, startedAtMs, exit } = this.#worker;
    return {
      name,
      bootedMs: this.#at(startedAtMs),
      ...(exit !== undefined && {
        exitedMs: this.#at(exit.atMs),
        exitCode: exit.signal ?? exit.code ?? "unknown",
      }),
    };
  }

  leases(): readonly TimelineLease[] {
    return this.#linesOf("lease.claimed").map((claim) => this.#lease(claim));
  }

  phases(): readonly TimelinePhase[] {
    const changes = this.#linesOf("worker.phase");
    return changes.flatMap((change, index) => {
      const phase = String(change["phase"]);
      if (!DRAIN_PHASES.has(phase)) return [];
      const fromMs = this.#at(change.atMs);
      const toMs = Math.max(fromMs, this.#at(changes[index + 1]?.atMs ?? this.#endedAtMs));
      return [{ worker: this.#worker.name, phase, fromMs, toMs }];
    });
  }

  lines(): readonly TimelineLine[] {
    const { name, signals, unreadyAtMs } = this.#worker;
    const { drainMs, killAfterMs } = this.#record.timings.drain;
    const [first] = signals.filter(({ name: signal }) => signal !== "SIGKILL");
    const line = (kind: TimelineLine["kind"], atMs: number, text: string): TimelineLine => ({
      ...{ worker: name, atMs: this.#at(atMs), kind, text },
    });
    return [
      ...signals.map(({ name: signal, atMs }) => line("signal", atMs, signal)),
      ...(first === undefined
        ? []
        : [
            line("deadline", first.atMs + drainMs, "drain deadline"),
            line("deadline", first.atMs + killAfterMs, "the platform would kill"),
          ].filter(({ atMs }) => atMs <= this.#at(this.#record.endedAtMs))),
      ...(unreadyAtMs === undefined ? [] : [line("note", unreadyAtMs, "not ready")]),
      ...this.#worker.requests.flatMap(({ fault, action, arrivedAtMs }) =>
        fault === undefined ? [] : [line("fault", arrivedAtMs, `${action}: ${fault.kind}`)],
      ),
    ];
  }

  get #endedAtMs(): number {
    return this.#worker.exit?.atMs ?? this.#record.endedAtMs;
  }

  #linesOf(event: string): readonly LogLine[] {
    return this.#worker.lines.filter((line) => line.event === event);
  }

  #lease(claim: LogLine): TimelineLease {
    const own = this.#worker.lines.filter(
      (line) =>
        line["message_id"] === claim["message_id"] &&
        line["receive_count"] === claim["receive_count"],
    );
    const end = own.find(({ event }) => event in ENDINGS);
    const started = own.find(({ event }) => event === "job.started");
    const about = started ?? own.find((line) => "job_id" in line);
    const fromMs = this.#at(claim.atMs);
    return {
      worker: this.#worker.name,
      queue: String(claim["queue"]),
      messageId: String(claim["message_id"]),
      ...(about !== undefined && {
        tenantId: String(about["tenant_id"]),
        jobId: String(about["job_id"]),
        jobType: String(about["job_type"]),
      }),
      fromMs,
      ...(started !== undefined && { startedMs: Math.max(fromMs, this.#at(started.atMs)) }),
      toMs: Math.max(fromMs, this.#at(end?.atMs ?? this.#endedAtMs)),
      ending: end === undefined ? this.#cutEnding() : (ENDINGS[end.event] ?? "open"),
      extensionsMs: own
        .filter(({ event }) => event === "lease.extended")
        .map(({ atMs }) => Math.max(fromMs, this.#at(atMs))),
    };
  }

  #cutEnding(): LeaseEnding {
    return this.#worker.exit === undefined ? "open" : "cut off";
  }
}
