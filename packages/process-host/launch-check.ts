/** Warns of a parent that swallows signals. */

import { readFileSync } from "node:fs";

/** One process above this one. */
export interface Ancestor {
  readonly pid: number;
  /** As the system shows it, for example `sh` or `npm start`. */
  readonly name: string;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "zsh", "busybox"]);
const PACKAGE_MANAGER = /^(?:npm|npx|yarn|pnpm)\b/;

/**
 * What is wrong with the way this process was started, one sentence each.
 *
 * A shell does not hand SIGTERM on, and as PID 1 it does not even die of it; npm hands it on to the
 * shell that it started. In both cases the worker is killed with its jobs running.
 *
 * @param ancestors - the parent first
 */
export function checkLaunch(ancestors: readonly Ancestor[]): readonly string[] {
  const [parent, grandparent] = ancestors;
  if (parent === undefined) return [];
  const mend = 'start node itself, as in CMD ["node", "main.js"], or put "exec" before it';
  if (PACKAGE_MANAGER.test(parent.name) && parent.pid === 1) {
    return [`${parent.name} is PID 1 and may not pass signals on: ${mend}`];
  }
  if (!SHELLS.has(parent.name)) return [];
  if (parent.pid === 1) return [`the shell ${parent.name} is PID 1 and swallows SIGTERM: ${mend}`];
  const isBelowPackageManager = grandparent !== undefined && PACKAGE_MANAGER.test(grandparent.name);
  if (!isBelowPackageManager) return [];
  return [
    `the shell ${parent.name} stands between ${grandparent.name} and this process and swallows ` +
      `SIGTERM: ${mend}`,
  ];
}

/** The two processes above this one, where the system tells (Linux); else none. */
export function readAncestors(ppid: number): readonly Ancestor[] {
  const parent = readProcess(ppid);
  if (parent === undefined) return [];
  const grandparent = parent.ppid > 0 ? readProcess(parent.ppid) : undefined;
  return grandparent === undefined ? [parent] : [parent, grandparent];
}

function readProcess(pid: number): (Ancestor & { readonly ppid: number }) | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in brackets and may hold some itself.
    const end = stat.lastIndexOf(")");
    const name = stat.slice(stat.indexOf("(") + 1, end);
    const ppid = Number(stat.slice(end + 2).split(" ")[1]);
    return { pid, name, ppid };
  } catch {
    return undefined; // no /proc here, or that process has ended
  }
}
