/** Environment to configuration; the only reader of the environment. */

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import {
  type DeploymentContract,
  InvalidContractError,
  type PresetName,
  presets,
} from "@leasehold/deployment-contract";
import { billingContract } from "./contract.ts";
import { type Environment, EnvironmentReader } from "./environment.ts";
import { InvalidConfigError } from "./errors.ts";

/** How much the log says. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Everything that differs from one place to another. */
export interface BillingConfig {
  /** Its numbers fit each other only if `verifyContract` says so; the worker asks. */
  readonly contract: DeploymentContract;
  readonly aws: AwsConfig;
  readonly payments: PaymentConfig;
  /** Part of every provider key, so that no two environments are taken for each other. */
  readonly environment: string;
  /**
   * When the ledger's table was last restored from a backup, Unix time: a job from before whose record
   * the restore may have erased waits for an operator.
   */
  readonly ledgerRestoredAtMs?: number;
  /**
   * Where results and parked messages go that are too big for a ledger record: a folder that all workers
   * share. Without it such a result is dropped, and a job with such a message cannot be parked. Absolute.
   */
  readonly ledgerFolder?: string;
  /** Absolute. */
  readonly receiptsFolder: string;
  readonly renderThreads: number;
  /** For trials: how long each render takes at least. */
  readonly renderAtLeastMs: number;
  /** Where leases are extended; `thread` outlives a handler that blocks the event loop. */
  readonly extender: "thread" | "inline";
  readonly admin: AdminConfig;
  /** Where the ECS agent is; absent off ECS. */
  readonly ecsAgentUri?: string;
  readonly logLevel: LogLevel;
  /** The release, as the image or the deploy says it; in every log line. */
  readonly version: string;
}

/** Where AWS is; without an endpoint it is the region's own. */
export interface AwsConfig {
  readonly region: string;
  readonly sqsEndpoint?: string;
  readonly dynamoDbEndpoint?: string;
}

/** Which account is charged; without an endpoint it is Stripe's API. */
export interface PaymentConfig {
  readonly secretKey: string;
  readonly endpoint?: string;
}

/** Where probes and operators reach this process. */
export interface AdminConfig {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
}

/** What the intake of webhooks needs. */
export interface IntakeConfig extends AdminConfig {
  readonly aws: AwsConfig;
  /** Of the endpoint at Stripe. */
  readonly webhookSecret: string;
}

/** A laptop has few cores, a task even fewer; more threads than this only take memory. */
const MOST_DEFAULT_THREADS = 4;
const LONGEST_TRIAL_MS = 3_600_000;

/**
 * Reads the variables `AWS_REGION`, `AWS_ENDPOINT_URL[_SQS|_DYNAMODB]`, `LOG_LEVEL`,
 * `STRIPE_SECRET_KEY` and `BILLING_*`, and `ECS_AGENT_URI`, which ECS itself sets. Credentials of
 * AWS are the SDK's own matter.
 *
 * @throws InvalidConfigError naming every problem with its mend, misspelt `BILLING_*` included
 */
export function readConfig(environment: Environment = process.env): BillingConfig {
  const reader = new EnvironmentReader(environment);
  const ecsAgentUri = reader.address("ECS_AGENT_URI");
  const ledgerFolder = reader.optional("BILLING_LEDGER_DIR");
  const ledgerRestoredAtMs = reader.moment("BILLING_LEDGER_RESTORED_AT");
  const config = {
    contract: readContract(reader),
    aws: readAws(reader),
    receiptsFolder: resolve(
      reader.required("BILLING_RECEIPTS_DIR", "name the folder for receipts", "/var/receipts"),
    ),
    renderThreads: reader.wholeNumber("BILLING_RENDER_THREADS", defaultThreads(), 1, 64),
    renderAtLeastMs: reader.wholeNumber("BILLING_RENDER_MS", 0, 0, LONGEST_TRIAL_MS),
    extender: reader.word("BILLING_EXTENDER", "thread", ["thread", "inline"]),
    payments: readPayments(reader),
    environment: reader.optional("BILLING_ENVIRONMENT") ?? "production",
    ...(ledgerFolder === undefined ? {} : { ledgerFolder: resolve(ledgerFolder) }),
    ...(ledgerRestoredAtMs === undefined ? {} : { ledgerRestoredAtMs }),
    admin: readAdmin(reader),
    ...(ecsAgentUri === undefined ? {} : { ecsAgentUri }),
    logLevel: reader.word<LogLevel>("LOG_LEVEL", "info", ["debug", "info", "warn", "error"]),
    version: reader.optional("BILLING_VERSION") ?? "unreleased",
  };
  // Of the intake, which may share the worker's environment.
  for (const name of INTAKE_NAMES) reader.optional(name);
  reader.refuseUnknown("BILLING_");
  if (reader.problems.length > 0) throw new InvalidConfigError(reader.problems);
  const { contract, payments } = config;
  return Object.freeze({
    ...config,
    contract: contract as DeploymentContract,
    payments: payments as PaymentConfig,
  });
}

const INTAKE_NAMES = ["BILLING_INTAKE_HOST", "BILLING_INTAKE_PORT"] as const;

/**
 * Reads the variables of the intake: `AWS_REGION`, `AWS_ENDPOINT_URL[_SQS]`, `STRIPE_WEBHOOK_SECRET` and
 * `BILLING_INTAKE_HOST` and `_PORT`.
 *
 * @throws InvalidConfigError naming every problem with its mend; it never shows the secret
 */
export function readIntakeConfig(environment: Environment = process.env): IntakeConfig {
  const reader = new EnvironmentReader(environment);
  const webhookSecret = reader.optional("STRIPE_WEBHOOK_SECRET") ?? "";
  if (!/^whsec_\S+$/.test(webhookSecret)) {
    const mend = "Take it from the webhook endpoint in Stripe's dashboard.";
    const got = webhookSecret === "" ? "nothing" : "something else";
    reader.refuse("STRIPE_WEBHOOK_SECRET", "be a signing secret: whsec_...", mend, got);
  }
  const config = {
    aws: readAws(reader),
    webhookSecret,
    host: reader.optional("BILLING_INTAKE_HOST") ?? "127.0.0.1",
    port: reader.wholeNumber("BILLING_INTAKE_PORT", 8081, 0, 65_535),
  };
  reader.refuseUnknown("BILLING_INTAKE_");
  if (reader.problems.length > 0) throw new InvalidConfigError(reader.problems);
  return Object.freeze(config);
}

/** `undefined` only when a problem was noted. */
function readContract(reader: EnvironmentReader): DeploymentContract | undefined {
  const presetNames = Object.keys(presets) as PresetName[];
  const preset = reader.word<PresetName>("BILLING_PRESET", "default-30", presetNames);
  const overrides = reader.jsonObject("BILLING_CONTRACT_OVERRIDES");
  try {
    return billingContract(preset, overrides);
  } catch (error) {
    if (!(error instanceof InvalidContractError)) throw error;
    for (const problem of error.problems) {
      const mend = "The names and ranges stand in the contract's documentation.";
      reader.refuse("BILLING_CONTRACT_OVERRIDES", "fit the contract", mend, problem);
    }
    return undefined;
  }
}

function readAws(reader: EnvironmentReader): AwsConfig {
  const region = reader.required(
    "AWS_REGION",
    "name the region of queue and table",
    "eu-central-1",
  );
  const endpoint = reader.address("AWS_ENDPOINT_URL");
  const sqsEndpoint = reader.address("AWS_ENDPOINT_URL_SQS") ?? endpoint;
  const dynamoDbEndpoint = reader.address("AWS_ENDPOINT_URL_DYNAMODB") ?? endpoint;
  return {
    region,
    ...(sqsEndpoint === undefined ? {} : { sqsEndpoint }),
    ...(dynamoDbEndpoint === undefined ? {} : { dynamoDbEndpoint }),
  };
}

/** `undefined` only when a problem was noted; none of them ever shows the key. */
function readPayments(reader: EnvironmentReader): PaymentConfig | undefined {
  const secretKey = reader.optional("STRIPE_SECRET_KEY");
  const endpoint = reader.address("BILLING_PAYMENT_ENDPOINT");
  if (endpoint === undefined) {
    if (secretKey !== undefined && /^[sr]k_(?:test|live)_./.test(secretKey)) return { secretKey };
    const mend =
      "Take it from the API keys in Stripe's dashboard, or set BILLING_PAYMENT_ENDPOINT to a local " +
      "payment provider, as npm start does.";
    const must = "be a secret key: sk_live_..., sk_test_..., rk_live_... or rk_test_...";
    const got = secretKey === undefined ? "nothing" : "something else";
    reader.refuse("STRIPE_SECRET_KEY", must, mend, got);
    return undefined;
  }
  // Only the local payment provider is elsewhere: a live key must never leave this machine for it.
  if (!isLoopback(endpoint)) {
    const mend = "Leave it out for Stripe's own API.";
    reader.refuse("BILLING_PAYMENT_ENDPOINT", "be an address of this machine", mend);
  }
  if (secretKey === undefined || !/^[sr]k_test_./.test(secretKey)) {
    const got = secretKey === undefined ? "nothing" : "something else";
    const mend = "For the local payment provider any such text does, for example sk_test_local.";
    reader.refuse("STRIPE_SECRET_KEY", "be a key of test mode, sk_test_...", mend, got);
    return undefined;
  }
  return { secretKey, endpoint };
}

function isLoopback(address: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(new URL(address).hostname);
}

function readAdmin(reader: EnvironmentReader): AdminConfig {
  return {
    host: reader.optional("BILLING_ADMIN_HOST") ?? "127.0.0.1",
    port: reader.wholeNumber("BILLING_ADMIN_PORT", 8080, 0, 65_535),
  };
}

/** One core is left to the main thread, which extends leases. */
function defaultThreads(): number {
  return Math.min(MOST_DEFAULT_THREADS, Math.max(1, availableParallelism() - 1));
}
