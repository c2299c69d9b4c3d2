/** What a session shows: where to look, how things stand, warnings, the drain and its report. */

import type { ShutdownReport } from "@leasehold/worker";
import { tellDrain } from "./drain-story.ts";
import { alignPairs, type Output } from "./output.ts";
import { reportLines } from "./report-text.ts";
import type { SessionTally } from "./session-tally.ts";
import { readReport } from "./shutdown-record.ts";
import { isAtLeast, nameJob, type WorkerLine } from "./worker-line.ts";

/** How things stand, for the status line. */
export interface SessionStanding {
  readonly sent: number;
  /** Jobs that jobs have sent in turn. */
  readonly sentByJobs: number;
  readonly receipts: number;
  readonly tally: SessionTally;
}

/** Turns records of the worker into what people or machines see. */
export class SessionView {
  readonly #output: Output;
  #isDraining = false;
  #report: ShutdownReport | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Whether the worker has given account of its end. */
  get hasReport(): boolean {
    return this.#report !== undefined;
  }

  /** Where everything is, before the first job. */
  open(title: string, facts: readonly (readonly [name: string, value: string])[]): void {
    this.#output.say(title);
    for (const line of alignPairs(facts)) this.#output.say(line);
  }

  /** One line of the worker's output, and the record that it is, if it is one. */
  showLine(text: string, line: WorkerLine | undefined): void {
    if (line === undefined) {
      this.#output.say(text);
      return;
    }
    if (isAtLeast(line.level, "info")) this.#output.pass(text);
    if (line.event === "drain.started") this.#isDraining = true;
    if (line.event === "drain.finished") this.#report = readReport(line.fields["report"]);
    const told = this.#isDraining ? tellDrain(line) : undefined;
    if (told !== undefined) this.#output.say(told);
    else if (isAtLeast(line.level, "warn") && line.event !== "drain.finished") {
      this.#output.say(`warning: ${line.message || line.event}${about(line)}`);
    }
  }

  /** Replaces the status line. */
  showStanding({ sent, sentByJobs, receipts, tally }: SessionStanding): void {
    const troubles: readonly (readonly [number, string])[] = [
      [tally.retried, "retried"],
      [tally.released, "released"],
      [tally.deadLettered, "dead-lettered"],
      [tally.lost, "leases lost"],
    ];
    const shown = troubles
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${what} ${count}`);
    const parts = [
      `jobs sent ${sent}${sentByJobs > 0 ? ` + ${sentByJobs} by jobs` : ""}`,
      `running ${tally.running}`,
      `done ${tally.acked}`,
      `leases extended ${tally.extended}`,
      `PDFs ${receipts}`,
      ...shown,
    ];
    this.#output.status(parts.join("  "));
  }

  /** The worker's account of its end, for people; machines have had its record. */
  showReport(): void {
    this.#output.status("");
    if (this.#report === undefined) return;
    for (const line of reportLines(this.#report)) this.#output.say(line);
  }
}

/** Which job a warning is about and what went wrong, as far as the record knows. */
function about(line: WorkerLine): string {
  const { message_id: messageId, error_message: error, reason, code, detail } = line.fields;
  const parts = [
    messageId === undefined ? undefined : nameJob(line),
    error ?? reason ?? code ?? detail,
  ];
  const known = parts.filter((part) => part !== undefined);
  return known.length === 0 ? "" : ` (${known.join(": ")})`;
}
