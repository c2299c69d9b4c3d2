/** This service as plain data, for programs that run it against a local AWS: `leasehold local`. */

import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DeploymentContract, PresetName, TableSettings } from "@leasehold/deployment-contract";
import { billingContract, invoicesTable } from "./contract.ts";
import { type SampleJob, type SampleRequest, sampleJobs } from "./sample-jobs.ts";

/** What is fixed for one session. */
export interface BillingSession {
  readonly preset?: PresetName;
  /** For what the ledger keeps beside its table. */
  readonly folder: string;
  readonly receiptsFolder: string;
  readonly adminPort: number;
  readonly renderMs?: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

/** The local payment provider, beside a worker. */
export interface BillingCompanion {
  readonly name: "payments";
  readonly endpoint: string;
  /** By which the worker finds it. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * What a program that runs this service must know of it. It is data and a few functions on purpose:
 * the service imports neither a command nor an emulator, and they import nothing else of it.
 */
export interface BillingTarget {
  readonly name: string;
  /** The worker as a program: a script for Node. */
  readonly command: readonly [script: string];
  contract(preset?: PresetName): DeploymentContract;
  readonly tables: readonly TableSettings[];
  /** Starts the local payment provider; its charges are in `payments.jsonl` of the folder. */
  startCompanion(site: { readonly folder: string }): Promise<BillingCompanion>;
  /** Variables of the worker, besides those that say where AWS is. */
  environment(session: BillingSession): Readonly<Record<string, string>>;
  /** What `renderMs` makes long; an invoice and its payment bring one. */
  readonly slowJob: { readonly type: string; readonly samples: number };
  sampleJobs(request: SampleRequest): readonly SampleJob[];
}

/** Every charge of the sessions in one folder. */
const CHARGES_FILE = "payments.jsonl";

/** Results and parked messages of one session's jobs that are too big for a record. */
const LEDGER_FOLDER = "ledger-kept";

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
  startCompanion,
  environment,
  slowJob: { type: "receipt.render", samples: 2 },
  sampleJobs,
});

/** Loaded only here: whoever wants the numbers alone starts no provider. */
async function startCompanion({ folder }: { readonly folder: string }): Promise<BillingCompanion> {
  const { startPaymentSandbox } = await import("./payment/payment-sandbox.ts");
  const sandbox = await startPaymentSandbox({ file: join(folder, CHARGES_FILE) });
  return {
    name: "payments",
    endpoint: sandbox.endpoint,
    environment: {
      BILLING_PAYMENT_ENDPOINT: sandbox.endpoint,
      STRIPE_SECRET_KEY: "sk_test_local",
    },
    close: () => sandbox.close(),
  };
}

function environment(session: BillingSession): Readonly<Record<string, string>> {
  const { preset = LOCAL_PRESET, folder, receiptsFolder, adminPort, renderMs, logLevel } = session;
  return {
    BILLING_PRESET: preset,
    BILLING_ENVIRONMENT: "local",
    BILLING_LEDGER_DIR: join(folder, LEDGER_FOLDER),
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
