/** Every TypeScript example of the README compiles against the packages as they are. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
/** Within the tree, so that packages are found by their names. */
const folder = join(import.meta.dirname, ".readme");

describe("the README", () => {
  test("shows TypeScript that compiles under the strict rules of this house", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
      (found) => found[1] ?? "",
    );
    expect(examples.length).toBeGreaterThanOrEqual(2);
    mkdirSync(folder, { recursive: true });
    try {
      for (const [index, example] of examples.entries()) {
        writeFileSync(join(folder, `example-${index}.ts`), `${example}\nexport {};\n`);
      }
      const options = { composite: false, noEmit: true, declaration: false, declarationMap: false };
      writeFileSync(
        join(folder, "tsconfig.json"),
        JSON.stringify({
          extends: "../../tsconfig.base.json",
          compilerOptions: {
            ...options,
            isolatedDeclarations: false,
            rewriteRelativeImportExtensions: false,
            allowImportingTsExtensions: true,
          },
          include: ["*.ts"],
        }),
      );
      const tsc = join(root, "node_modules/.bin/tsc");
      const { stdout, status } = spawnSync(tsc, ["-p", folder], { encoding: "utf8" });
      expect(stdout).toBe("");
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("names only scripts that package.json has", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const named = [...readme.matchAll(/npm (?:run )?([a-z-]+)/g)].map((found) => found[1] ?? "");
    const scripts = named.filter((name) => name !== "is");
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });
});
