/** The service whose handlers do as they are told, as a target of the drill. */

import { join } from "node:path";
import { defineContract } from "@leasehold/deployment-contract";
import { type DrillTarget, nodeCommand } from "@leasehold/drill";
import { drillPreset } from "./drill-site.ts";

const QUEUE = "trial-jobs";

/** For every scenario that needs a handler which misbehaves. */
export const trialTarget: DrillTarget = {
  name: "trial",
  command: nodeCommand(join(import.meta.dirname, "trial-service.ts")),
  can: [
    ...(["work", "ignore-abort", "return-quietly", "block-in-drain"] as const),
    ...(["end-in-drain", "checkpoint", "step-clock"] as const),
  ],
  follows: ["fifo", "ledger"],
  contract: ({ fifo = false, ledger = false }) => {
    const end = fifo ? ".fifo" : "";
    return defineContract({
      preset: drillPreset,
      service: "trial",
      queues: [
        {
          ...{ name: `${QUEUE}${end}`, fifo, deadLetter: { name: `${QUEUE}-dead${end}` } },
          // From 100 on a worker holds the messages that wait for their group's head.
          ...(fifo && { maxReceiveCount: 100 }),
        },
      ],
      worker: { concurrency: 4, jobTimeoutMs: 600_000 },
      ledger: ledger ? { kind: "dynamodb", tableName: "trial-ledger" } : { kind: "none" },
    });
  },
  tables: [],
  environment: ({ contract, work }) => ({
    TRIAL_CONTRACT: JSON.stringify(contract),
    ...(work.do === "step-clock" && { TRIAL_CLOCK: "stepped" }),
  }),
  shortGrace: ({ contract }) => ({
    TRIAL_CONTRACT: JSON.stringify({
      ...contract,
      platform: { ...contract.platform, graceMs: contract.shutdown.drainMs },
    }),
  }),
  jobs: ({ work, contract }, from, count) =>
    Array.from({ length: count }, (_, index) => ({
      type: "trial.work",
      tenantId: "acme",
      jobId: `trial-${from + index}`,
      payload: work,
      ...(contract.queues[0]?.fifo === true && { orderingKey: "acme" }),
    })),
};
