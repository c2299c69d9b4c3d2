/** The script of the report's page: its modules, joined into one that needs no file beside it. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** In the order in which they need each other; the last one starts the page. */
const MODULES = [
  "element",
  "time-axis",
  "shapes",
  "lanes",
  "details",
  "draw-lease",
  "draw-lane",
  "tools",
  "pointing",
  "chart",
  "main",
] as const;

/**
 * The whole script. The modules are plain JavaScript, so that they lie beside this file both in the
 * source and in the build. A page that is opened from a file may not import another file, therefore
 * they become one: each in the page's scope, without its imports and exports.
 */
export function pageScript(): string {
  const modules = MODULES.map((name) =>
    readFileSync(join(import.meta.dirname, "report-page", `${name}.js`), "utf8"),
  );
  return `"use strict";\n${modules.map(withoutLinks).join("\n")}`;
}

function withoutLinks(module: string): string {
  return module.replace(/^import [^;]*;\n/gm, "").replace(/^export (?!\{)/gm, "");
}
