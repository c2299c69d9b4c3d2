/** The jobs of a cell: each brings about a request of its own, and says what it did. */

import type { Clock } from "@leasehold/clock";
import {
  type JobContext,
  type JobDefinition,
  PermanentJobError,
  parseJobId,
  parseJobType,
  parseTenantId,
  RetryLaterError,
  writeEnvelope,
} from "@leasehold/job";
import { z } from "zod";
import type { HandlerRun } from "./fault-record.ts";

/**
 * What a job does after its time: succeeds; fails on its first run, by any error or by asking for a
 * later one; can never succeed; or succeeds and does not listen when it is asked to stop.
 */
export type JobKind = "works" | "fails" | "asks-for-later" | "is-poison" | "is-stubborn";

/** One job to send. */
export interface PlannedJob {
  readonly kind: JobKind;
  readonly takesMs: number;
}

type Payload = PlannedJob & { readonly n: number };

/** Longer than a visibility timeout, so that it can be told from an extension. */
const LATER_MS = 17_000;

/** What a handler needs to know of its cell. */
export interface JobWitness {
  readonly clock: Clock;
  readonly messageIdOf: (n: number) => string;
  readonly runs: HandlerRun[];
}

/** Job `n` as a message body with its attributes. */
export function messageOf(n: number, planned: PlannedJob) {
  return writeEnvelope({
    tenantId: parseTenantId("acme"),
    jobId: parseJobId(`job-${n}`),
    jobType: parseJobType("test.work"),
    payload: { n, ...planned },
    createdAtMs: Date.UTC(2026, 0, 1),
  });
}

/** The one definition for all of them. */
export function jobDefinition(witness: JobWitness): JobDefinition<string, Payload, Payload> {
  return {
    type: "test.work",
    schema: z.object({
      n: z.number(),
      kind: z.enum(["works", "fails", "asks-for-later", "is-poison", "is-stubborn"]),
      takesMs: z.number(),
    }),
    handler: ({ payload }, context) => runJob(payload, context, witness),
  };
}

async function runJob(
  { n, kind, takesMs }: Payload,
  context: JobContext,
  { clock, messageIdOf, runs }: JobWitness,
): Promise<void> {
  const messageId = messageIdOf(n);
  const isFirst = !runs.some((run) => run.messageId === messageId && run.result === "failed");
  const run: HandlerRun = { messageId, startedAtMs: clock.wallMs() };
  runs.push(run);
  const end = (result: NonNullable<HandlerRun["result"]>) => {
    run.endedAtMs = clock.wallMs();
    run.result = result;
  };
  await (kind === "is-stubborn" ? clock.sleep(takesMs) : clock.sleep(takesMs, context.signal));
  if (kind !== "is-stubborn" && context.signal.aborted) {
    end("interrupted");
    throw context.signal.reason;
  }
  if (kind === "is-poison") {
    end("permanent");
    throw new PermanentJobError("poison");
  }
  if (isFirst && (kind === "fails" || kind === "asks-for-later")) {
    end("failed");
    throw kind === "fails" ? new Error("the first run fails") : new RetryLaterError(LATER_MS);
  }
  end("done");
}
