/** Ways of starting a worker that would lose work, and are caught before they do. */

import type { Scenario } from "./scenario.ts";
import { signalProcess } from "./worker-process.ts";

/** Single quotes, with those inside closed, escaped and opened again. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
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
