#!/usr/bin/env node
/** The command line: finds the command, runs it, and turns what came of it into one exit code. */

import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { systemClock } from "@leasehold/clock";
import { CommanderError } from "commander";
import { runAws } from "./aws-command.ts";
import type { CommandHost } from "./command-host.ts";
import { runDrillCommand } from "./drill-command.ts";
import { runLedger } from "./ledger-command.ts";
import { runLocal } from "./local-command.ts";
import { Output } from "./output.ts";
import { createProgram } from "./program.ts";
import { SignalPresses } from "./signal-presses.ts";

const FAILED = 1;
const MISUSED = 2;
/** As in `sysexits.h`: the configuration contradicts itself or what is there. */
const MISCONFIGURED = 78;

/** Exit code by the code of an error; what is not here is a fault of ours and shows its stack. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  TARGET_INVALID: MISUSED,
  COMMAND_MISUSED: MISUSED,
  ENDPOINT_UNKNOWN: MISUSED,
  INVALID_CONTRACT: MISCONFIGURED,
  CONTRACT_VIOLATED: MISCONFIGURED,
  PROVISION_CONFLICT: MISCONFIGURED,
  LEDGER_COMMAND: FAILED,
  RESOLVE_REFUSED: FAILED,
  FOLDER_BUSY: FAILED,
  EADDRINUSE: FAILED,
  ECONNREFUSED: FAILED,
  // A folder that cannot be used: the system's own words name it.
  EACCES: FAILED,
  EEXIST: FAILED,
  ENOSPC: FAILED,
  ENOTDIR: FAILED,
  EPERM: FAILED,
  EROFS: FAILED,
  // Errors of the AWS SDK have a name instead.
  CredentialsProviderError: MISUSED,
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const;

/** Handlers come first: from now on a signal is passed on instead of ending this process. */
function listenForSignals(): SignalPresses {
  const presses = new SignalPresses(systemClock);
  for (const name of SIGNALS) process.on(name, () => presses.receive(name));
  // A reader that has gone (`| head`) wants no more: stop, as at a Ctrl-C.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => presses.receive("SIGTERM"));
  }
  return presses;
}

async function main(): Promise<void> {
  const presses = listenForSignals();
  const host = (json: boolean | undefined): CommandHost => ({
    clock: systemClock,
    output: new Output({ stdout: process.stdout, stderr: process.stderr, json: json === true }),
    presses,
    environment: process.env,
  });
  const program = createProgram(
    {
      local: async (flags) => {
        process.exitCode = await runLocal(flags, host(flags.json));
      },
      aws: async (flags) => {
        process.exitCode = await runAws(flags, host(flags.json));
      },
      drill: async (flags) => {
        process.exitCode = await runDrillCommand(flags, host(false));
      },
      ledger: async (flags) => {
        process.exitCode = await runLedger(flags, host(flags.json));
      },
    },
    readVersion(),
  );
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has printed what is wrong, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
  const { code, name, message } = error as Partial<NodeJS.ErrnoException>;
  const exitCode = EXIT_CODES[code ?? name ?? ""];
  if (exitCode === undefined) console.error(error);
  else console.error(`leasehold: ${message}`);
  return exitCode ?? FAILED;
}

function readVersion(): string {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) return "unknown";
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version;
}

await main();
