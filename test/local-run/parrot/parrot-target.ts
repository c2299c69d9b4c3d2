/** The parrot as a target of the local command. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type DeploymentContract,
  defineContract,
  type PresetName,
} from "@leasehold/deployment-contract";

/** Structurally a `LocalTarget`: a service imports nothing of the command. */
export const target = {
  name: "parrot",
  command: [join(import.meta.dirname, "parrot-worker.ts")],
  contract: (preset: PresetName = "drill"): DeploymentContract =>
    defineContract({
      service: "parrot",
      preset,
      queues: [{ name: "parrot-jobs" }],
      ledger: { kind: "none" },
    }),
  tables: [],
  startCompanion: async ({ folder }: { readonly folder: string }) => ({
    name: "cage",
    endpoint: "http://127.0.0.1:9",
    environment: { PARROT_CAGE: folder },
    close: () => writeFile(join(folder, "cage-closed"), ""),
  }),
  environment: ({ receiptsFolder }: { readonly receiptsFolder: string }) => ({
    PARROT_FOLDER: receiptsFolder,
  }),
  sampleJobs: ({ count, seed }: { readonly count: number; readonly seed: number }) =>
    Array.from({ length: count }, (_, index) => ({
      type: "parrot.say",
      tenantId: "acme",
      jobId: `${seed}-${index}`,
      payload: { words: index },
    })),
};
