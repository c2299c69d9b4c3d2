/** What happened in a history, line by line: time, worker, lease, job; and as a timeline. */

import type { WorkerEvent } from "@leasehold/worker";
import { FleetTimeline } from "./fleet-timeline.ts";

/** Keeps lines only when somebody wants to read them. */
export class Trace {
  readonly lines: string[] = [];
  /** Absent where nobody wants to see it. */
  readonly fleet: FleetTimeline | undefined;
  readonly #isKept: boolean;
  readonly #nowMs: () => number;

  constructor(isKept: boolean, nowMs: () => number) {
    this.#isKept = isKept;
    this.#nowMs = nowMs;
    this.fleet = isKept ? new FleetTimeline(nowMs) : undefined;
  }

  note(who: string, text: string): void {
    if (!this.#isKept) return;
    const seconds = (this.#nowMs() / 1_000).toFixed(3).padStart(9);
    this.lines.push(`${seconds} s  ${who.padEnd(8)} ${text}`);
  }

  event(worker: string, event: WorkerEvent): void {
    if (!this.#isKept) return;
    this.fleet?.heard(worker, event);
    const { kind, ...rest } = event;
    this.note(worker, `${kind} ${words(rest)}`);
  }
}

const LEFT_OUT: ReadonlySet<string> = new Set(["queue", "report", "stack", "fields"]);

function words(value: object): string {
  return Object.entries(value)
    .filter(([name, field]) => field !== undefined && !LEFT_OUT.has(name))
    .map(([name, field]) => {
      if (name === "lease") return `${field.messageId.slice(0, 8)}#${field.receiveCount}`;
      if (name === "job") return `${field.jobId}`;
      if (typeof field === "object" && field !== null) return `${name}=(${words(field)})`;
      return `${name}=${typeof field === "number" ? Math.round(field) : field}`;
    })
    .join(" ");
}
