/** The cases follow the code: a break that fits nothing any more is found before the long run. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { caseTables } from "./case-tables.ts";
import { ledgerMutants } from "./ledger-mutants.ts";

const root = join(import.meta.dirname, "../..");
const cases = Object.values(caseTables).flat();

const readText = (path: string) => readFileSync(join(root, path), "utf8");

describe("the cases from the field", () => {
  test.each(cases)("have the test that they name ($report)", ({ file, test: name, report }) => {
    expect(readText(file)).toContain(`${name} (${report})`);
  });

  test.each([
    ...cases.map(({ report, break: one }) => ({ about: report, one })),
    ...ledgerMutants.map(({ mutant, break: one }) => ({ about: mutant, one })),
  ])("have a break that fits in one place ($about)", ({ one: { file, find } }) => {
    expect(readText(file).split(find)).toHaveLength(2);
  });
});
