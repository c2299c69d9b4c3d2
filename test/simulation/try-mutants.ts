/** Breaks the code, one line at a time, and sees the simulation find it. */

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { MutantTree } from "../support/mutant-tree.ts";
import { type FleetMutant, fleetMutants } from "./fleet-mutants.ts";

/** A break that so many histories do not show is not noticed. */
const MOST_SEEDS = 4_000;
const AT_A_TIME = Math.max(1, Math.min(4, availableParallelism()));

/** Tries those whose name has `only` in it; the exit code: 1 when one survives. */
export async function tryMutants(only: string): Promise<number> {
  const waiting = fleetMutants.filter(({ mutant }) => mutant.includes(only));
  const all = waiting.length;
  let survivors = 0;
  const workOff = async () => {
    using tree = new MutantTree();
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const seed = await caughtBy(tree, mutant);
      if (seed === undefined) survivors += 1;
      const told = seed === undefined ? "SURVIVED" : `caught by ${mutant.profile} ${seed}`;
      console.log(`  ${told.padEnd(26)}  ${mutant.mutant}: ${mutant.break.file}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, workOff));
  console.log(`\nmutants: ${all - survivors} caught, ${survivors} survived`);
  return survivors > 0 ? 1 : 0;
}

/** The first seed that shows it. */
async function caughtBy(tree: MutantTree, mutant: FleetMutant): Promise<string | undefined> {
  return await tree.broken(mutant.break, async () => {
    const child = spawn(
      process.execPath,
      [
        ...["--conditions=source", join(tree.folder, "test/simulation/first-violation.ts")],
        ...[mutant.profile, String(MOST_SEEDS)],
      ],
      { cwd: tree.folder, stdio: ["ignore", "pipe", "ignore"] },
    );
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    // One that ends the process itself, by an error that nobody catches, has shown itself, too.
    if (code === 0) return undefined;
    return said.trim() === "" ? "a crash" : `seed ${said.trim()}`;
  });
}
