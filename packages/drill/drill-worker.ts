/** One worker under drill: a real process behind a wire of its own, and a probe that is watched. */

import { systemClock } from "@leasehold/clock";
import type { FaultPlan, FaultProxy, ProxiedRequest } from "@leasehold/local-aws";
import type { WorkerRecord } from "./drill-record.ts";
import type { LogLine, WorkerProcess } from "./worker-process.ts";

/** Told what is being waited for, so that a drill that hangs can say it. */
export type Awaiting = <Value>(what: string, promise: Promise<Value>) => Promise<Value>;

/** What a worker under drill is made of. */
export interface DrillWorkerParts {
  readonly name: string;
  readonly process: WorkerProcess;
  readonly wire: FaultProxy;
  readonly awaiting: Awaiting;
  /** Jobs of this type count as started. @defaultValue of every type */
  readonly slowType?: string | undefined;
}

/** How often the wire is looked at for a request that must come. */
const LOOK_EVERY_MS = 5;

const MOST_LAST_WORDS = 4;

/** One worker process. */
export class DrillWorker implements AsyncDisposable {
  readonly name: string;
  readonly #process: WorkerProcess;
  readonly #wire: FaultProxy;
  readonly #awaiting: Awaiting;
  readonly #slowType: string | undefined;
  readonly #startedAtMs = systemClock.wallMs();
  readonly #signals: { readonly name: string; readonly atMs: number }[] = [];
  #exit: WorkerRecord["exit"];
  #readyAtMs: number | undefined;
  #unreadyAtMs: number | undefined;
  #watching: Promise<void> | undefined;

  constructor({ name, process, wire, awaiting, slowType }: DrillWorkerParts) {
    this.name = name;
    this.#process = process;
    this.#wire = wire;
    this.#awaiting = awaiting;
    this.#slowType = slowType;
    void process.exited.then((exit) => {
      this.#exit = exit;
    });
  }

  /** The first line, past or future, that fits. */
  line(event: string, fits?: (line: LogLine) => boolean): Promise<LogLine> {
    return this.#awaiting(`${event} of ${this.name}`, this.#process.waitFor(event, fits));
  }

  /** Resolves when `count` different slow jobs have started here. */
  async started(count: number): Promise<void> {
    await this.line("job.started", () => this.#startedJobs() >= count);
  }

  /** The first request, past or future, that fits. */
  request(what: string, fits: (request: ProxiedRequest) => boolean): Promise<ProxiedRequest> {
    return this.#find(what, () => this.#wire.log.find(fits));
  }

  /** The first match, past or future, in what it says that is no log line. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    const search = () => {
      for (const text of this.#process.noise) {
        const match = pattern.exec(text);
        if (match !== null) return match;
      }
      return undefined;
    };
    return this.#find(String(pattern), search);
  }

  /** Sends a signal and from the first one on watches the probe. */
  signal(name: NodeJS.Signals): number {
    if (name !== "SIGKILL") this.#watching ??= this.#watchProbe();
    const atMs = this.#process.signal(name);
    this.#signals.push({ name, atMs });
    return atMs;
  }

  /** From now on this goes wrong between this worker and SQS. */
  disturb(rules: FaultPlan["rules"]): void {
    this.#wire.setPlan({ rules });
  }

  /** Resolves when the process has ended. */
  async exited(): Promise<NonNullable<WorkerRecord["exit"]>> {
    const exit = await this.#awaiting(`the end of ${this.name}`, this.#process.exited);
    await this.#watching;
    return exit;
  }

  record(): WorkerRecord {
    return {
      name: this.name,
      startedAtMs: this.#startedAtMs,
      signals: [...this.#signals],
      lines: this.#process.lines,
      noise: this.#process.noise,
      requests: [...this.#wire.log],
      ...(this.#readyAtMs !== undefined && { readyAtMs: this.#readyAtMs }),
      ...(this.#unreadyAtMs !== undefined && { unreadyAtMs: this.#unreadyAtMs }),
      ...(this.#exit !== undefined && { exit: this.#exit }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
    await this.#wire.close();
  }

  #find<Found>(what: string, look: () => Found | undefined): Promise<Found> {
    const search = async (): Promise<Found> => {
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        if (this.#exit !== undefined) throw new Error(this.#gone(what));
        await systemClock.sleep(LOOK_EVERY_MS);
      }
    };
    return this.#awaiting(`${what} of ${this.name}`, search());
  }

  #gone(what: string): string {
    const words = this.#process.noise.slice(-MOST_LAST_WORDS).join(" | ");
    const said = words === "" ? "" : `; its last words: ${words}`;
    return `${this.name} ended before ${what}${said}`;
  }

  #startedJobs(): number {
    const starts = this.#process.lines.filter(
      (line) =>
        line.event === "job.started" &&
        (this.#slowType === undefined || line["job_type"] === this.#slowType),
    );
    return new Set(starts.map((line) => line["job_id"])).size;
  }

  /** Until the probe refuses, or nobody answers any more. */
  async #watchProbe(): Promise<void> {
    const listening = this.#process.lines.find(({ event }) => event === "admin.listening");
    if (listening === undefined) return;
    while (this.#unreadyAtMs === undefined) {
      const askedAtMs = systemClock.wallMs();
      const isReady = await fetch(`${String(listening["detail"])}/readyz`).then(
        ({ ok }) => ok,
        () => undefined,
      );
      if (isReady === undefined) return;
      if (isReady) this.#readyAtMs = askedAtMs;
      else this.#unreadyAtMs = systemClock.wallMs();
    }
  }
}
