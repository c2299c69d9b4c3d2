/** What kinds of histories there are: how much goes wrong, and what must be seen of it. */

import type { Incident } from "./history.ts";

/** Names of the profiles. */
export type Profile = "calm" | "harsh" | "deploys" | "fifo" | "payments";

/** How a profile's histories are drawn. */
export interface Weather {
  readonly mostJobs: number;
  /** Share of histories on a FIFO queue. */
  readonly fifo: number;
  /** Share of jobs with effects. */
  readonly effects: number;
  /** The most of each incident. */
  readonly incidents: readonly (readonly [Incident["kind"], number])[];
  /** The most windows in which calls go wrong. */
  readonly callFaults: number;
  /** The highest share of the ledger's writes that are throttled, and that are not answered. */
  readonly store: number;
  /** The highest share of calls of the provider that go wrong. */
  readonly provider: number;
  /** What must be seen at least so often in a thousand seeds. */
  readonly least: Readonly<Record<string, number>>;
}

/** Every profile. */
export const profiles: Readonly<Record<Profile, Weather>> = {
  calm: {
    ...{ mostJobs: 16, fifo: 0.2, effects: 0.3, callFaults: 0, store: 0, provider: 0 },
    incidents: [["rolling-deploy", 1]],
    least: {
      "job.ended succeeded": 3_000,
      "lease.released unstarted": 20,
      "lease.extended": 500,
      "phase aborting": 100,
      "exit 0": 500,
      "exit 75": 100,
    },
  },
  harsh: {
    ...{ mostJobs: 14, fifo: 0.2, effects: 0.4, callFaults: 5, store: 0.2, provider: 0.3 },
    incidents: [
      ["SIGKILL", 1],
      ["SIGSTOP", 2],
      ["suspended", 1],
      ["clock-step", 1],
      ["double-delivery", 2],
      ["rolling-deploy", 1],
    ],
    least: {
      ...{ "lease.lost expired": 100, "lease.lapsing release": 5, "lease.lapsing retry": 20 },
      ...{ "lease.extension-failed": 100, "claim.failed": 100, "job.ended dead-lettered": 20 },
      ...{ "fault throttled": 100, "fault lost-reply": 100, "fault lost-request": 100 },
      ...{ "fault slow-request": 100, "fault slow-answer": 100, "fault server-error": 100 },
      ...{ SIGKILL: 100, SIGSTOP: 100, suspended: 100, "clock-step": 100, "double-delivery": 50 },
      ...{ "effect.taken-over replay": 50, "ledger.store-failing": 1_000 },
    },
  },
  deploys: {
    ...{ mostJobs: 20, fifo: 0.15, effects: 0.2, callFaults: 2, store: 0.05, provider: 0.05 },
    incidents: [
      ["rolling-deploy", 3],
      ["deploy-at-once", 1],
      ["second-SIGTERM", 1],
      ["SIGKILL", 1],
    ],
    least: {
      ...{ "phase draining": 1_000, "phase aborting": 300, "phase releasing": 20 },
      ...{ "lease.released ended": 300, "lease.released unstarted": 50 },
      ...{ "lease.released ignored-abort": 10, "drain.late-arrival": 20, "drain.tapered": 300 },
      ...{ "exit 0": 300, "exit 75": 300, "exit 76": 10, "rolling-deploy": 300 },
    },
  },
  fifo: {
    ...{ mostJobs: 14, fifo: 1, effects: 0.3, callFaults: 3, store: 0.05, provider: 0.1 },
    incidents: [
      ["SIGKILL", 1],
      ["SIGSTOP", 1],
      ["double-delivery", 1],
      ["rolling-deploy", 1],
    ],
    least: { "lease.released unstarted": 50, "lease.lost expired": 20, "lease.retried": 70 },
  },
  payments: {
    ...{ mostJobs: 12, fifo: 0.1, effects: 1, callFaults: 2, store: 0.3, provider: 0.6 },
    incidents: [
      ["SIGKILL", 2],
      ["SIGSTOP", 2],
      ["double-delivery", 2],
      ["rolling-deploy", 1],
    ],
    least: {
      ...{ "effect.taken-over replay": 500, "effect.unknown": 500, "effect.completed-late": 20 },
      ...{ "job.stopped busy": 5, "job.stopped held-back": 5, "job.stopped fenced": 50 },
      ...{ "effect.completion-unrecorded": 50, "ledger.store-failing": 1_000 },
    },
  },
};
