/** The local payment provider as a program: `node payment-sandbox-main.js --file <file> [--port <n>]`. */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { PaymentSandboxError } from "../errors.ts";
import { type FaultRule, startPaymentSandbox } from "./payment-sandbox.ts";

const USAGE =
  "--file <file> [--port <0..65535>] [--search-lag-ms <n>] [--faults <file of JSON rules>]";

/** One line of JSON on stdout says where it listens; SIGTERM and SIGINT stop it. */
async function main(): Promise<void> {
  const { file, port, searchLagMs, faults } = readArguments();
  const sandbox = await startPaymentSandbox({ file, port, searchLagMs, faults });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => void sandbox.close());
  }
  console.log(
    JSON.stringify({ msg: "payment sandbox listening", endpoint: sandbox.endpoint, file }),
  );
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      file: { type: "string" },
      port: { type: "string", default: "0" },
      "search-lag-ms": { type: "string", default: "0" },
      faults: { type: "string" },
    },
  });
  if (values.file === undefined) throw new PaymentSandboxError(`--file is missing: ${USAGE}`);
  return {
    file: values.file,
    port: wholeNumber("--port", values.port, 65_535),
    searchLagMs: wholeNumber("--search-lag-ms", values["search-lag-ms"], 86_400_000),
    faults: values.faults === undefined ? [] : readRules(values.faults),
  };
}

function wholeNumber(name: string, value: string, max: number): number {
  if (/^\d{1,9}$/.test(value) && Number(value) <= max) return Number(value);
  throw new PaymentSandboxError(`${name} must be a whole number from 0 to ${max}, got ${value}`);
}

function readRules(path: string): readonly FaultRule[] {
  try {
    const rules: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (Array.isArray(rules)) return rules as FaultRule[];
  } catch (cause) {
    throw new PaymentSandboxError(`--faults ${path} cannot be read as JSON`, { cause });
  }
  throw new PaymentSandboxError(`--faults ${path} must hold a list of rules`);
}

try {
  await main();
} catch (error) {
  const isUsage = (error as { readonly code?: string }).code?.startsWith("ERR_PARSE_ARGS") === true;
  if (!(error instanceof PaymentSandboxError || isUsage)) throw error;
  console.error(`payment sandbox: ${(error as Error).message}`);
  process.exitCode = 2;
}
