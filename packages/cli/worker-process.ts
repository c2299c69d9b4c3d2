/** The worker as a real child process: spawned, read line by line, signalled, awaited. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { nodeCommand } from "@leasehold/drill";
import type { Environment } from "@leasehold/local-aws";

/** What to start and who listens. */
export interface WorkerProcessOptions {
  readonly command: readonly [script: string, ...args: string[]];
  /** The whole environment of the process. */
  readonly environment: Environment;
  /** Each line of its output, without the line end. */
  readonly onOutput: (line: string) => void;
  /** Each line of its error output. */
  readonly onErrorOutput: (line: string) => void;
}

/** How the process ended. */
export interface WorkerEnd {
  /** As a shell has it: 128 + n when signal n ended it. */
  readonly exitCode: number;
  /** The signal that ended it, when it did not end by itself. */
  readonly signal?: NodeJS.Signals;
}

/** A running worker. */
export interface WorkerProcess {
  readonly pid: number;
  /** Sends a signal; a process that has ended gets none. */
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended and all of its output has been read. */
  readonly ended: Promise<WorkerEnd>;
}

/**
 * Starts a script with this Node, in its own process group: a Ctrl-C of the terminal reaches the
 * command alone, which passes on what was meant. A channel connects the two, so that a worker whose
 * parent was killed notices it and drains.
 *
 * @throws Error of the system when the process cannot be started
 */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const [program, ...args] = nodeCommand(...options.command);
  const child = spawn(program, args, {
    env: { ...options.environment },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  closed.catch(() => {}); // A start that fails is told by the line below.
  await once(child, "spawn");
  const { pid, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) {
    throw new Error("a process that was spawned has a pid and pipes");
  }
  createInterface({ input: stdout }).on("line", options.onOutput);
  createInterface({ input: stderr }).on("line", options.onErrorOutput);
  return {
    pid,
    signal: (name) => {
      child.kill(name);
    },
    ended: closed.then(([code, signal]) => toEnd(code, signal)),
  };
}

function toEnd(code: number | null, signal: NodeJS.Signals | null): WorkerEnd {
  if (signal !== null) return { exitCode: 128 + constants.signals[signal], signal };
  return { exitCode: code ?? 1 };
}
