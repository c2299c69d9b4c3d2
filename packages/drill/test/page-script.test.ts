import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { describe, expect, test } from "vitest";
import { pageScript } from "../page-script.ts";

describe("pageScript", () => {
  test("is one script that imports nothing and compiles", () => {
    const script = pageScript();

    expect(script).not.toMatch(/^\s*(?:import|export)\b/m);
    expect(() => new Script(script)).not.toThrow();
  });

  test("holds every module of the page", () => {
    const folder = join(import.meta.dirname, "../report-page");
    const modules = readdirSync(folder).filter((name) => name.endsWith(".js"));
    const script = pageScript();
    const missing = modules.filter((name) => {
      const header = readFileSync(join(folder, name), "utf8").split("\n")[0] ?? "";
      return !script.includes(header);
    });

    expect(modules.length).toBe(11);
    expect(missing).toEqual([]);
  });

  test("names nothing twice, since its modules share one scope", () => {
    const names = [
      ...pageScript().matchAll(/^(?:async )?(?:function|class|const|let) (\w+)/gm),
    ].map((found) => found[1]);

    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("cannot end the element that holds it", () => {
    expect(pageScript()).not.toMatch(/<\/script|<!--/i);
  });
});
