/** This service as plain data, for programs that run it against a local AWS: `leasehold local`. */

import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { DeploymentContract, PresetName, TableSettings } from "@leasehold/deployment-contract";
import { billingContract, invoicesTable } from "./contract.ts";
import { type SampleJob, type SampleRequest, sampleJobs } from "./sample-jobs.ts";

/** What is fixed for one session. */
export interface BillingSession {
  readonly preset?: PresetName;
  readonly receiptsFolder: string;
  readonly adminPort: number;
  readonly renderMs?: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

/**
 * What a program that runs this service must know of it. It is data and pure functions on purpose:
 * the service imports neither a command nor an emulator, and they import nothing else of it.
 */
export interface BillingTarget {
  readonly name: string;
  /** The worker as a program: a script for Node. */
  readonly command: readonly [script: string];
  contract(preset?: PresetName): DeploymentContract;
  readonly tables: readonly TableSettings[];
  /** Variables of the worker, besides those that say where AWS is. */
  environment(session: BillingSession): Readonly<Record<string, string>>;
  sampleJobs(request: SampleRequest): readonly SampleJob[];
}

/** Short waits: nobody on a laptop likes to watch a long poll end. */
const LOCAL_PRESET: PresetName = "drill";

/** This service. */
export const target: BillingTarget = Object.freeze({
  name: "billing-worker",
  command: [
    fileURLToPath(new URL(`./main${extname(import.meta.filename)}`, import.meta.url)),
  ] as const,
  contract: (preset: PresetName = LOCAL_PRESET) => billingContract(preset),
  tables: [invoicesTable],
  environment,
  sampleJobs,
});

function environment(session: BillingSession): Readonly<Record<string, string>> {
  const { preset = LOCAL_PRESET, receiptsFolder, adminPort, renderMs, logLevel } = session;
  return {
    BILLING_PRESET: preset,
    BILLING_RECEIPTS_DIR: receiptsFolder,
    BILLING_ADMIN_PORT: String(adminPort),
    LOG_LEVEL: logLevel,
    ...(renderMs === undefined ? {} : longRenders(renderMs, preset)),
  };
}

/** Renders that only wait need no core each, so every slot may have its thread. */
function longRenders(renderMs: number, preset: PresetName): Readonly<Record<string, string>> {
  const { concurrency } = billingContract(preset).worker;
  return { BILLING_RENDER_MS: String(renderMs), BILLING_RENDER_THREADS: String(concurrency) };
}
