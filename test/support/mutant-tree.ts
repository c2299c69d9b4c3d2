/** A copy of the tree in which the code can be broken while the real one stays as it is. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A one-line break of the real code. */
export interface Break {
  /** From the root, for example `packages/lease/lease-state.ts`. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** A copy of sources and tests, with the packages of this house linked to the copy. */
export class MutantTree implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "leasehold-mutants-"));

  constructor() {
    for (const part of [
      "packages",
      "test",
      "package.json",
      "tsconfig.base.json",
      "vitest.config.ts",
    ]) {
      cpSync(join(root, part), join(this.folder, part), { recursive: true, filter: isSource });
    }
    linkModules(join(root, "node_modules"), join(this.folder, "node_modules"));
    for (const name of readdirSync(join(root, "packages"))) {
      linkModules(
        join(root, "packages", name, "node_modules"),
        join(this.folder, "packages", name, "node_modules"),
      );
    }
  }

  /**
   * Applies the break, runs `work`, and takes the break back.
   * @throws Error when the text to break does not stand in its file exactly once
   */
  async broken<Result>(
    { file, find, replace }: Break,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const path = join(this.folder, file);
    const whole = readFileSync(path, "utf8");
    const places = whole.split(find).length - 1;
    if (places !== 1)
      throw new Error(`${file} has the text to break ${places} times, not once: ${find}`);
    writeFileSync(
      path,
      whole.replace(find, () => replace),
    );
    try {
      return await work();
    } finally {
      writeFileSync(path, whole);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function isSource(path: string): boolean {
  return !/\/(?:node_modules|dist|\.turbo|\.readme)(?:\/|$)/.test(path.slice(root.length));
}

/** Links to what is installed; the house's own packages are linked to the copy beside it. */
function linkModules(from: string, to: string): void {
  for (const name of list(from)) {
    if (name === ".cache" || name === ".vite") continue;
    if (name.startsWith("@") && name !== "@leasehold") {
      for (const scoped of list(join(from, name)))
        link(join(from, name, scoped), join(to, name, scoped));
    } else if (name !== "@leasehold" && name !== "leasehold") {
      link(join(from, name), join(to, name));
    }
  }
  if (!list(from).includes("@leasehold")) return;
  for (const name of list(join(from, "@leasehold"))) {
    if (name !== "test") link(join(to, "../packages", name), join(to, "@leasehold", name));
  }
  link(join(to, "../packages/leasehold"), join(to, "leasehold"));
}

function link(target: string, path: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  symlinkSync(target, path);
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // A package without modules of its own.
  }
}
