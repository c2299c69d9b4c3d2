import { describe, expect, test } from "vitest";
import { type Ancestor, checkLaunch } from "../index.ts";
import { readAncestors } from "../launch-check.ts";

describe("checkLaunch", () => {
  test.each<[string, readonly Ancestor[]]>([
    ["node started by the platform", []],
    ["node below tini", [{ pid: 1, name: "tini" }]],
    [
      "node in a terminal",
      [
        { pid: 900, name: "bash" },
        { pid: 800, name: "sshd" },
      ],
    ],
    [
      "npm start with exec",
      [
        { pid: 900, name: "npm start" },
        { pid: 800, name: "bash" },
      ],
    ],
  ])("has nothing against %s", (_, ancestors) => {
    expect(checkLaunch(ancestors)).toEqual([]);
  });

  test.each<[string, readonly Ancestor[], string]>([
    ["a shell as PID 1", [{ pid: 1, name: "sh" }], "the shell sh is PID 1 and swallows SIGTERM"],
    ["npm as PID 1", [{ pid: 1, name: "npm start" }], "npm start is PID 1"],
    [
      "a shell of npm (npm/npm 4603)",
      [
        { pid: 30, name: "sh" },
        { pid: 20, name: "npm run start" },
      ],
      "the shell sh stands between npm run start and this process",
    ],
  ])("warns of %s", (_, ancestors, words) => {
    const warnings = checkLaunch(ancestors);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(words);
    expect(warnings[0]).toContain("exec");
  });
});

describe("readAncestors", () => {
  test("knows no process 0 and does not fail for it", () => {
    expect(readAncestors(0)).toEqual([]);
  });
});
