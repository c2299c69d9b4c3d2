/** Leases in trouble: throttled, lost, in the order of a FIFO group, under a clock that jumps. */

import type { FaultRule } from "@leasehold/local-aws";
import { finishWith, firstAtWork, LONG } from "./acts.ts";
import type { DrillStage } from "./drill-stage.ts";
import type { DrillWork } from "./drill-target.ts";
import type { Scenario } from "./scenario.ts";

const HOUR_MS = 3_600_000;
const EXTENSIONS = ["ChangeMessageVisibility", "ChangeMessageVisibilityBatch"];

/** Runs on after its lease has run out, and then succeeds. */
const LATE: DrillWork = { do: "ignore-abort", forMs: 16_000, thenMs: 500 };

/** No extension gets through, and nothing is claimed meanwhile: the other worker is to have it. */
const CUT: readonly FaultRule[] = [
  { fault: { kind: "hung" }, actions: EXTENSIONS },
  { fault: { kind: "throttle" }, actions: ["ReceiveMessage"] },
];

async function loseFirstLease(stage: DrillStage, messages: number): Promise<void> {
  const first = await firstAtWork(stage, messages);
  first.disturb(CUT);
  const second = await stage.start("second");
  await second.started(1);
  await first.line("job.ended");
  await stage.quiet();
  await stage.stop(first);
  await stage.stop(second);
}

/** The step comes as the job starts, so the second worker's clock goes right. */
async function playClockStep(stage: DrillStage): Promise<void> {
  const first = await firstAtWork(stage);
  const second = await stage.start("second");
  await second.line("worker.ready");
  await stage.quiet();
  await stage.stop(first);
  await stage.stop(second);
}

/** Leases. */
export const leaseScenarios: readonly Scenario[] = [
  {
    name: "throttled release",
    story: "SQS refuses the release for its rate: it was not done, so it may be asked again.",
    work: () => LONG,
    play: async (stage) => {
      const first = await firstAtWork(stage);
      first.disturb([{ fault: { kind: "throttle" }, visibilityTimeoutsSeconds: [0], nth: [1] }]);
      first.signal("SIGTERM");
      const second = await stage.start("second");
      await first.exited();
      await finishWith(stage, second);
    },
    expect: { exits: { first: 75 } },
  },
  {
    name: "lost lease and late success",
    story:
      "No extension gets through, so another worker has the message: the late one deletes nothing.",
    work: () => LATE,
    play: (stage) => loseFirstLease(stage, 1),
    expect: { twins: true, deletesNothing: ["first"], says: { first: /"event":"lease.lost"/ } },
  },
  {
    name: "lost lease and late success, FIFO",
    story: "As before, in a group: the late worker neither deletes nor goes on with the group.",
    numbers: { fifo: true },
    work: () => LATE,
    play: (stage) => loseFirstLease(stage, 2),
    expect: {
      ...{ twins: true, inOrder: true },
      ...{ deletesNothing: ["first"], says: { first: /"event":"lease.lost"/ } },
    },
  },
  {
    name: "FIFO group released in the middle",
    story: "Head and tail of the group go back together, and are taken up in their order.",
    numbers: { fifo: true },
    work: () => LONG,
    play: async (stage) => {
      const first = await firstAtWork(stage, 4);
      first.signal("SIGTERM");
      const second = await stage.start("second");
      await first.exited();
      await finishWith(stage, second, 4);
    },
    expect: { exits: { first: 75 }, inOrder: true },
  },
  {
    name: "clock step forward",
    story:
      "An hour forward looks like a machine that slept: the job is run again, never twice at once.",
    work: () => ({ do: "step-clock", stepMs: HOUR_MS, forMs: 60_000, thenMs: 100 }),
    play: playClockStep,
    expect: {},
  },
  {
    name: "clock step back",
    story: "An hour back changes nothing: leases and deadlines go by elapsed time.",
    work: ({ lease }) => ({
      ...{ do: "step-clock", stepMs: -HOUR_MS },
      ...{ forMs: lease.visibilityTimeoutMs + 2_000, thenMs: 100 },
    }),
    play: playClockStep,
    expect: { deletesNothing: ["second"] },
  },
];
