/** SIGKILL, which no process can answer: the lease alone brings the job back. */

import { firstAtWork, LONG, takeOver } from "./acts.ts";
import type { Scenario } from "./scenario.ts";

const ALWAYS: NodeJS.Signals = "SIGKILL";

/** Kills. */
export const killScenarios: readonly Scenario[] = [
  {
    name: "SIGKILL while running",
    story: "The lease runs out: the message is back within one visibility timeout.",
    work: () => LONG,
    play: async (stage) => {
      const first = await firstAtWork(stage);
      await first.line("lease.extended");
      first.signal(ALWAYS);
      await first.exited();
      await takeOver(stage);
    },
    expect: {
      exits: { first: ALWAYS },
      backWithinMs: ({ lease }) => lease.visibilityTimeoutMs + 1_000,
    },
  },
  {
    name: "SIGKILL while draining",
    story: "In a drain leases are tapered: the message is back soon after the platform's own kill.",
    work: () => LONG,
    play: async (stage) => {
      const first = await firstAtWork(stage);
      const atMs = first.signal("SIGTERM");
      await first.line("drain.started");
      await stage.until(atMs + stage.timings.drain.drainMs - 1_000);
      first.signal(ALWAYS);
      await first.exited();
      await takeOver(stage);
    },
    expect: {
      exits: { first: ALWAYS },
      backWithinMs: ({ drain }) => drain.killAfterMs + 3_000,
    },
  },
  {
    name: "SIGKILL while releasing",
    story:
      "Killed with its release under way: if that never arrives, the taper brings the job back.",
    work: () => LONG,
    play: async (stage) => {
      const first = await firstAtWork(stage);
      first.disturb([{ fault: { kind: "hung" }, visibilityTimeoutsSeconds: [0] }]);
      first.signal("SIGTERM");
      await first.request("a release", ({ entries }) =>
        entries.some(({ visibilityTimeoutSeconds }) => visibilityTimeoutSeconds === 0),
      );
      first.signal(ALWAYS);
      await first.exited();
      await takeOver(stage);
    },
    expect: {
      exits: { first: ALWAYS },
      backWithinMs: ({ drain }) => drain.killAfterMs + 3_000,
    },
  },
];
