import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TargetInvalidError } from "../errors.ts";
import { checkTarget, loadLocalTarget } from "../load-target.ts";

const whole = {
  name: "mailer",
  command: ["/srv/mailer/main.js", "--quiet"],
  contract: () => ({}),
  tables: [],
  environment: () => ({}),
  sampleJobs: () => [],
};

async function writeModule(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "target.mjs"), text);
  return join(folder, "target.mjs");
}

describe("a target", () => {
  test("is taken when it has every part", () => {
    expect(checkTarget("mailer.ts", whole)).toBe(whole);
  });

  test.each([
    [undefined, ["it must export an object named target"]],
    ["mailer", ["it must export an object named target"]],
    [
      { ...whole, startCompanion: "payments" },
      ['target.startCompanion must be a function, or left out, got "payments"'],
    ],
    [{ ...whole, name: "" }, ['target.name must be a text that is not empty, got ""']],
    [
      { ...whole, command: ["main.js"] },
      ['target.command must be the absolute path of a script, and its arguments, got ["main.js"]'],
    ],
    [
      { ...whole, command: [] },
      ["target.command must be the absolute path of a script, and its arguments, got []"],
    ],
    [
      { ...whole, command: ["/main.js", 1] },
      [
        'target.command must be the absolute path of a script, and its arguments, got ["/main.js",1]',
      ],
    ],
    [{ ...whole, contract: {} }, ["target.contract must be a function, got {}"]],
    [
      { ...whole, tables: undefined, sampleJobs: 1 },
      ["target.tables must be a list, got nothing", "target.sampleJobs must be a function, got 1"],
    ],
  ])("is refused with every problem: %j", (given, problems) => {
    expect(() => checkTarget("mailer.ts", given)).toThrow(
      new TargetInvalidError("mailer.ts", problems),
    );
  });

  test("comes from a file, whatever the working folder", async () => {
    const file = await writeModule(
      `const part = () => [];
       export const target = { name: "mailer", command: ["/main.js"], tables: [],
         contract: part, environment: part, sampleJobs: part };`,
    );

    expect((await loadLocalTarget(file)).name).toBe("mailer");
  });

  test("is refused when there is no such file", async () => {
    await expect(loadLocalTarget("/nowhere/target.ts")).rejects.toThrow(
      "/nowhere/target.ts is no target of the local command: there is no such file",
    );
  });

  test("fails with its own error when its file fails", async () => {
    const file = await writeModule('throw new Error("of its own");');

    await expect(loadLocalTarget(file)).rejects.toThrow("of its own");
  });
});
