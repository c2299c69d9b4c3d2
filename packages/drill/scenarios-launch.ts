/** Ways of starting a worker that would lose work, and are caught before they do. */

import { spawnSync } from "node:child_process";
import { LONG, takeOver } from "./acts.ts";
import type { Scenario } from "./scenario.ts";
import { signalProcess } from "./worker-process.ts";

/** Single quotes, with those inside closed, escaped and opened again. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** A PID namespace without privileges, as a container has; its PID 1 is told when `unshare` dies. */
const UNSHARE = [
  "unshare",
  "--user",
  "--map-root-user",
  "--pid",
  "--fork",
  "--mount-proc",
] as const;

function lacksNamespaces(): string | undefined {
  const [program, ...flags] = UNSHARE;
  const { status, error } = spawnSync(program, [...flags, "true"], { stdio: "ignore" });
  if (status === 0) return undefined;
  return `this machine lets nobody make a PID namespace (${UNSHARE.join(" ")}: ${error?.message ?? status})`;
}

/** Launches. */
export const launchScenarios: readonly Scenario[] = [
  {
    name: "a shell between npm and the worker",
    story:
      "npm hands SIGTERM to its shell, and the worker never hears of it: it says so at its start.",
    work: () => ({ do: "work", forMs: 100 }),
    play: async (stage) => {
      // The shell that npm starts stays, as it does under a script of more than one command.
      const worker = stage.command.map(quoted).join(" ");
      const script = `${worker} & echo "pid=$!"; wait $!`;
      const command = ["npm", "exec", "--offline", "--call", script];
      const first = await stage.start("first", { HOME: stage.place.folder }, command);
      await first.line("worker.ready");
      const [, pid] = await first.says(/^pid=(\d+)$/);
      signalProcess(Number(pid), "SIGTERM");
      await first.exited();
    },
    expect: { says: { first: /stands between npm.* and this process and swallows SIGTERM/ } },
  },
  {
    name: "npm as PID 1",
    story:
      "As in a container with CMD npm start: SIGTERM never arrives, the job is cut off, and its lease brings it back.",
    work: () => LONG,
    lacking: lacksNamespaces,
    play: async (stage) => {
      const worker = stage.command.map(quoted).join(" ");
      const command = ["npm", "exec", "--offline", "--call", worker];
      const inside = [...UNSHARE, "--kill-child=SIGTERM", ...command];
      const first = await stage.start("first", { HOME: stage.place.folder }, inside);
      await first.line("worker.ready");
      await stage.send();
      await first.started(1);
      // With its outermost process gone, PID 1 is sent SIGTERM, as by a platform.
      first.signal("SIGKILL");
      await first.exited();
      await takeOver(stage);
    },
    expect: {
      exits: { first: "SIGKILL" },
      says: {
        first: /(?:stands between npm.* and this process and swallows|npm.* is PID 1 and may)/,
      },
      backWithinMs: ({ lease }) => lease.visibilityTimeoutMs + 1_000,
    },
  },
  {
    name: "platform grace too small",
    story: "The platform kills before the drain can end: the worker refuses to start, with 78.",
    work: () => ({ do: "work", forMs: 100 }),
    fits: ({ shortGrace }) => shortGrace !== undefined,
    play: async (stage) => {
      const first = await stage.start("first", stage.shortGrace());
      await first.exited();
    },
    expect: { exits: { first: 78 }, says: { first: /B1\b/ } },
  },
];
