/** The architecture and the style as a failing test. */

import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, test } from "vitest";
import {
  allowedArrows,
  entrances,
  forbiddenArrows,
  globals,
  outsideLibraries,
} from "./architecture.ts";

const root = join(import.meta.dirname, "..");

interface SourceFile {
  /** From the root, for example `packages/lease/lease.ts`. */
  readonly path: string;
  /** Package and file, for example `lease/lease.ts`. */
  readonly room: string;
  readonly owner: string;
  readonly text: string;
  /** The text without comments, so that prose is not taken for code. */
  readonly code: string;
  readonly imports: readonly string[];
}

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      // What begins with a dot is made by a tool or a test, which may be at work on it.
      const isMade = entry.name.startsWith(".") || ["node_modules", "dist"].includes(entry.name);
      return isMade ? [] : listFiles(path);
    }
    return entry.name.endsWith(".ts") && !entry.name.endsWith(".d.ts") ? [path] : [];
  });
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
  const imports = [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g)].map(
    (found) => found[1] ?? "",
  );
  const room = path.replace(/^packages\//, "");
  return { path, room, owner: room.split("/")[0] ?? "", text, code, imports };
}

const allFiles = [...listFiles("packages"), ...listFiles("test")].map(readSource);
const sources = allFiles.filter(
  ({ path }) => path.startsWith("packages/") && !path.includes("/test/"),
);

/** The package of this house that an import names, if it is one. */
function ownPackage(specifier: string): string | undefined {
  if (specifier === "leasehold") return "leasehold";
  return /^@leasehold\/([^/]+)/.exec(specifier)?.[1];
}

const isAllowed = (room: string, places: readonly string[]) =>
  places.some((place) => room === place || room.startsWith(`${place}/`));

describe("the architecture", () => {
  test("there are sources to judge", () => {
    expect(sources.length).toBeGreaterThan(50);
  });

  test("every package stands in the table, and the table names no other", () => {
    const packages = readdirSync(join(root, "packages"));
    expect(Object.keys(allowedArrows).sort()).toEqual(packages.sort());
  });

  test("no import leaves the allowed arrows", () => {
    const wrong = sources.flatMap(({ owner, path, imports }) =>
      imports.flatMap((specifier) => {
        const target = ownPackage(specifier);
        if (target === undefined || allowedArrows[owner]?.includes(target)) return [];
        const why = forbiddenArrows.find(([from, to]) => from === owner && to === target)?.[2];
        return [`${path}: ${owner} -> ${target}${why === undefined ? "" : ` (${why})`}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("no allowed arrow is unused, in the code and in package.json", () => {
    for (const [owner, allowed] of Object.entries(allowedArrows)) {
      const used = new Set(
        sources
          .filter((file) => file.owner === owner)
          .flatMap(({ imports }) => imports.map(ownPackage)),
      );
      used.delete(undefined);
      expect([owner, [...used].sort()]).toEqual([owner, [...allowed].sort()]);
      const manifest = JSON.parse(
        readFileSync(join(root, "packages", owner, "package.json"), "utf8"),
      );
      const declared = Object.keys(manifest.dependencies ?? {}).flatMap(
        (name) => ownPackage(name) ?? [],
      );
      expect([owner, declared.sort()]).toEqual([owner, [...allowed].sort()]);
    }
  });

  test("the arrows hold no circle and no forbidden pair", () => {
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      (allowedArrows[from] ?? []).some((next) => {
        if (next === to) return true;
        if (seen.has(next)) return false;
        seen.add(next);
        return reaches(next, to, seen);
      });
    for (const owner of Object.keys(allowedArrows))
      expect([owner, reaches(owner, owner)]).toEqual([owner, false]);
    for (const [from, to] of forbiddenArrows)
      expect([from, to, allowedArrows[from]?.includes(to)]).toEqual([from, to, false]);
  });

  test("a package is entered by its index or a listed entrance only", () => {
    const wrong = allFiles.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => ownPackage(specifier) !== undefined)
        .filter((specifier) => specifier !== "leasehold" && !/^@leasehold\/[^/]+$/.test(specifier))
        .filter((specifier) => !Object.hasOwn(entrances, specifier))
        .map((specifier) => `${path}: ${specifier}`),
    );
    expect(wrong).toEqual([]);
    const manualClock = sources.filter(({ imports }) =>
      imports.includes("@leasehold/clock/manual"),
    );
    expect(manualClock.map(({ path }) => path)).toEqual([]);
  });

  test("no file reaches into another package's folder or into its own index", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => normalize(join(dirname(path), specifier)))
        .filter(
          (target) =>
            target.split("/")[1] !== path.split("/")[1] ||
            target === join("packages", path.split("/")[1] ?? "", "index.ts"),
        )
        .map((target) => `${path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("no files import each other in a circle", () => {
    const targets = new Map(
      sources.map(({ path, imports }) => [
        path,
        imports
          .filter((name) => name.startsWith("."))
          .map((name) => normalize(join(dirname(path), name))),
      ]),
    );
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) throw new Error(`circle: ${[...trail, path].join(" -> ")}`);
      if (done.has(path)) return;
      for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const path of targets.keys()) visit(path, []);
  });

  test("outside libraries are imported in their places only", () => {
    const wrong = sources.flatMap(({ path, room, imports }) =>
      imports
        .filter(
          (name) =>
            !name.startsWith(".") && !name.startsWith("node:") && ownPackage(name) === undefined,
        )
        .filter((name) => {
          const library = name
            .split("/")
            .slice(0, name.startsWith("@") ? 2 : 1)
            .join("/");
          return (
            builtinModules.includes(library) || !isAllowed(room, outsideLibraries[library] ?? [])
          );
        })
        .map((name) => `${path}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test("time, process, environment and chance are touched in their places only", () => {
    const wrong = sources.flatMap(({ path, room, code }) =>
      globals
        .filter(({ pattern, allowed }) => pattern.test(code) && !isAllowed(room, allowed))
        .map(({ what }) => `${path}: ${what}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the style", () => {
  test("every file opens with one sentence that says what it is responsible for", () => {
    const silent = allFiles.filter(
      ({ path }) => !path.endsWith(".test.ts") && !path.endsWith(".test-d.ts"),
    );
    expect(
      silent
        .filter(({ text }) => !/^(?:#!.*\n)?\/\*\*[\s\S]+?\*\//.test(text))
        .map(({ path }) => path),
    ).toEqual([]);
  });

  test("no source file has more than 300 lines", () => {
    const long = sources.filter(({ text }) => text.split("\n").length > 301);
    expect(long.map(({ path, text }) => `${path}: ${text.split("\n").length}`)).toEqual([]);
  });

  test("a number that is a duration says its unit", () => {
    const pattern =
      /\b(\w*(?:timeout|delay|duration|interval|period|linger|grace|backoff|elapsed|deadline))\??: number\b/gi;
    const wrong = sources.flatMap(({ path, code }) =>
      [...code.matchAll(pattern)].map((found) => `${path}: ${found[1]}`),
    );
    expect(wrong).toEqual([]);
  });

  test("an error that leaves its file is named like its name field, and its code is its own", () => {
    const codes = new Map<string, string>();
    for (const { path, code } of sources) {
      for (const [, name, body] of code.matchAll(
        /export class (\w+) extends Error \{([\s\S]*?)\n\}/g,
      )) {
        expect([path, /override readonly name = "(\w+)"/.exec(body ?? "")?.[1]]).toEqual([
          path,
          name,
        ]);
        expect([path, name?.endsWith("Error")]).toEqual([path, true]);
        const own = /readonly code = "([A-Z_]+)"/.exec(body ?? "")?.[1];
        expect([path, name, own]).not.toEqual([path, name, undefined]);
        expect([own, codes.get(own ?? "")]).toEqual([own, undefined]);
        codes.set(own ?? "", `${path} ${name}`);
      }
    }
    expect(codes.size).toBeGreaterThan(5);
  });

  test("nothing is left to do without an issue's number, and no test is left out or alone", () => {
    const wrong = allFiles
      .filter(({ path }) => path !== relative(root, import.meta.filename))
      .filter(({ text }) =>
        /\b(?:TODO|FIXME|XXX)\b(?! #\d)|\b(?:test|describe|it)\.(?:skip|only|todo)\b/.test(text),
      );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test("file names are nouns in kebab-case, never a drawer", () => {
    const drawers =
      /(?:^|\/)(?:utils?|helpers?|common|types|interfaces|core|lib|manager|misc)\.ts$/;
    const wrong = allFiles.filter(({ path }) => drawers.test(path) || !/^[a-z0-9./-]+$/.test(path));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});
