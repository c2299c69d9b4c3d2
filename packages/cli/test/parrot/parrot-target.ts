/** The parrot as a target of the local command. */

import { join } from "node:path";
import { defineContract } from "@leasehold/deployment-contract";
import type { LocalTarget } from "../../local-target.ts";

export const target: LocalTarget = {
  name: "parrot",
  command: [join(import.meta.dirname, "parrot-worker.ts")],
  contract: (preset = "drill") =>
    defineContract({
      service: "parrot",
      preset,
      queues: [{ name: "parrot-jobs" }],
      ledger: { kind: "none" },
    }),
  tables: [],
  environment: ({ receiptsFolder }) => ({ PARROT_FOLDER: receiptsFolder }),
  sampleJobs: ({ count, seed }) =>
    Array.from({ length: count }, (_, index) => ({
      type: "parrot.say",
      tenantId: "acme",
      jobId: `${seed}-${index}`,
      payload: { words: index },
    })),
};
