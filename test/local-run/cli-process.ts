/** The `leasehold` command as a real process: its lines as they come, its end, signals to it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../..");

/** What a command has printed until it ended. */
export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
}

/** A running command. */
export class CliProcess {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  readonly errors: string[] = [];
  readonly #ended: Promise<unknown[]>;
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const script = join(root, "packages/cli/cli.ts");
    this.child = spawn(process.execPath, ["--conditions=source", script, ...args], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#ended = once(this.child, "close");
    for (const [stream, lines] of [
      [this.child.stdout, this.lines],
      [this.child.stderr, this.errors],
    ] as const) {
      if (stream === null) throw new Error("a spawned command has pipes");
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        for (const look of this.#waiting) look();
      });
    }
  }

  /** The first line of its output that has the text; rejects when the command ends without it. */
  async line(text: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = () => {
      const found = this.lines.find((line) => line.includes(text));
      if (found !== undefined) resolve(found);
    };
    this.#waiting.add(look);
    look();
    void this.#ended.then(() => {
      reject(new Error(`ended without ${text}: ${[...this.lines, ...this.errors].join("\n")}`));
    });
    return promise.finally(() => this.#waiting.delete(look));
  }

  /** What a terminal does at Ctrl-C: a signal to the whole process group. */
  pressCtrlC(): void {
    process.kill(-(this.child.pid ?? Number.NaN), "SIGINT");
  }

  /** Resolves when it has ended and everything was read. */
  async ended(): Promise<Ended> {
    const [exitCode, signal] = (await this.#ended) as [number | null, NodeJS.Signals | null];
    return { exitCode, signal, lines: this.lines, errors: this.errors };
  }
}
