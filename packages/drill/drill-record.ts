/** What was seen in one scenario, before anything is judged: pure data. */

import type { WorkerTimings } from "@leasehold/deployment-contract";
import type { ProxiedRequest } from "@leasehold/local-aws";
import type { EffectMoment } from "./drill-target.ts";
import type { LogLine } from "./worker-process.ts";

/** One worker process, from its start to its end. All moments are Unix time. */
export interface WorkerRecord {
  readonly name: string;
  readonly startedAtMs: number;
  readonly signals: readonly { readonly name: string; readonly atMs: number }[];
  readonly lines: readonly LogLine[];
  /** What it said that is no log line. */
  readonly noise: readonly string[];
  /** Its own requests to SQS, as they went by. */
  readonly requests: readonly ProxiedRequest[];
  /** When its probe was last asked, after the first signal, and still said that it is ready. */
  readonly readyAtMs?: number;
  /** When its probe first said that it is not; absent when it did not, or was gone before. */
  readonly unreadyAtMs?: number;
  readonly exit?: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly atMs: number;
  };
}

/** One message that the drill has sent. */
export interface SentMessage {
  readonly messageId: string;
  readonly tenantId: string;
  readonly jobId: string;
}

/** One scenario as it was seen. */
export interface DrillRecord {
  readonly scenario: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly timings: WorkerTimings;
  readonly sent: readonly SentMessage[];
  readonly workers: readonly WorkerRecord[];
  /** What is on the queue and on its dead-letter queue at the end, as SQS counts. */
  readonly left: { readonly onQueue: number; readonly dead: number };
  /** How often each side effect happened; absent where none can be counted. */
  readonly effects?: ReadonlyMap<string, number>;
  /** When each happened, as far as its provider tells. */
  readonly effectMoments?: readonly EffectMoment[];
}
