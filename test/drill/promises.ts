/** What every drill asks of a worker: its jobs, its readiness, its report. */

import { target as billing } from "@leasehold/billing-worker/target";
import type { LogLine, WorkerProcess } from "@leasehold/drill";
import type { DrillSite } from "./drill-site.ts";

/** How far stamps of two processes on a busy machine may lie apart. */
export const SLACK_MS = 250;

/** A drill waits for events, never for this: it only ends a run that hangs. */
export const DRILL: { readonly timeout: number } = { timeout: 240_000 };

/** What a trial job does; see `trial-service.ts`. */
export interface TrialWork {
  readonly do: "work" | "return-quietly" | "say-done" | "ignore-abort" | "block" | "block-in-drain";
  readonly forMs: number;
}

/** Sends one trial job of tenant `acme`, `trial-1` unless told otherwise. */
export async function sendTrial(
  site: DrillSite,
  work: TrialWork,
  jobId: string = "trial-1",
): Promise<{ readonly messageId: string }> {
  const result = await site.producer.send("trial.work", { tenantId: "acme", jobId, payload: work });
  if (result.kind !== "sent") throw result.error;
  return { messageId: result.messageId };
}

/** Sends invoices and payments, and waits until `receipts` renders have started. */
export async function sendBilling(
  site: DrillSite,
  worker: WorkerProcess,
  receipts: number,
): Promise<readonly LogLine[]> {
  const results = await site.producer.sendMany([
    ...billing.sampleJobs({ count: receipts * 2, seed: 1 }),
  ]);
  for (const result of results) if (result.kind !== "sent") throw result.error;
  const isRender = (line: LogLine) => line["job_type"] === "receipt.render";
  await worker.waitFor("job.started", (line) => {
    const started = worker.lines.filter(({ event }) => event === "job.started");
    return (
      isRender(line) &&
      new Set(started.filter(isRender).map((job) => job["job_id"])).size >= receipts
    );
  });
  return worker.lines.filter((line) => line.event === "job.started" && isRender(line));
}

/** Asks the readiness probe without pause; resolves with the moment of its first refusal. */
export async function readinessTurnsBad(worker: WorkerProcess): Promise<number> {
  const { detail: url } = await worker.waitFor("admin.listening");
  for (;;) {
    const { status } = await fetch(`${String(url)}/readyz`);
    if (status === 503) return Date.now();
  }
}

/** The unfinished jobs of the shutdown report. */
export function unfinishedOf(worker: WorkerProcess): readonly Record<string, unknown>[] {
  const finished = worker.lines.find(({ event }) => event === "drain.finished");
  const report = finished?.["report"] as { unfinished: Record<string, unknown>[] } | undefined;
  if (report === undefined)
    throw new Error(`the worker wrote no report: ${worker.noise.join("\n")}`);
  return report.unfinished;
}
