import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../program.ts";

function setup() {
  const calls: unknown[] = [];
  const program = createProgram(
    {
      local: async (flags) => void calls.push(["local", { ...flags }]),
      aws: async (flags) => void calls.push(["aws", { ...flags }]),
    },
    "1.2.3",
  );
  const printed: string[] = [];
  const capture = { writeOut: print, writeErr: print };
  function print(text: string) {
    printed.push(text);
  }
  program.configureOutput(capture);
  for (const command of program.commands) command.configureOutput(capture).exitOverride();
  const run = async (line: string) => {
    const args = line.split(" ").filter((part) => part !== "");
    return program.parseAsync(args, { from: "user" }).then(
      () => undefined,
      (error: CommanderError) => error,
    );
  };
  return { calls, printed, run };
}

describe("the command line", () => {
  test.each([
    ["local --target a.ts", ["local", { target: "a.ts", aws: "embedded" }]],
    [
      "local --target a.ts --jobs 50 --exit-when-idle --json",
      ["local", { target: "a.ts", aws: "embedded", jobs: 50, exitWhenIdle: true, json: true }],
    ],
    [
      "local --target a.ts --aws endpoint --data d --render-ms 0 --preset k8s-120 --port 0 --seed 7",
      [
        "local",
        {
          target: "a.ts",
          aws: "endpoint",
          data: "d",
          renderMs: 0,
          preset: "k8s-120",
          port: 0,
          seed: 7,
        },
      ],
    ],
    ["local --target a.ts --jobs 0 --exit-when-idle", undefined],
    ["aws", ["aws", { sqsPort: 4566, dynamodbPort: 8000 }]],
    [
      "aws --sqs-port 0 --dynamodb-port 1 --data d --json",
      ["aws", { sqsPort: 0, dynamodbPort: 1, data: "d", json: true }],
    ],
    [
      "aws --faults ReceiveMessage:throttle:0.1 --seed 7",
      [
        "aws",
        {
          sqsPort: 4566,
          dynamodbPort: 8000,
          faults: [{ fault: { kind: "throttle" }, chance: 0.1, actions: ["ReceiveMessage"] }],
          seed: 7,
        },
      ],
    ],
    [
      "local --target a.ts --faults *:hung",
      [
        "local",
        { target: "a.ts", aws: "embedded", faults: [{ fault: { kind: "hung" }, chance: 1 }] },
      ],
    ],
  ])("takes `%s`", async (line, call) => {
    const { calls, run } = setup();

    expect(await run(line)).toBeUndefined();

    if (call !== undefined) expect(calls).toEqual([call]);
  });

  test.each([
    ["local", "required option '--target <file>' not specified"],
    ["local --target", "option '--target <file>' argument missing"],
    ["local --target a.ts --jobs many", "'--jobs <n>' argument 'many' is invalid. Give a whole"],
    ["local --target a.ts --jobs 1.5", "argument '1.5' is invalid"],
    ["local --target a.ts --jobs -1", "argument '-1' is invalid"],
    ["local --target a.ts --jobs 1e3", "argument '1e3' is invalid"],
    ["local --target a.ts --jobs 1000001", "a whole number between 0 and 1000000"],
    ["local --target a.ts --port 65536", "a whole number between 0 and 65535"],
    [
      "local --target a.ts --preset huge",
      "argument 'huge' is invalid. Allowed choices are default",
    ],
    [
      "local --target a.ts --aws cloud",
      "argument 'cloud' is invalid. Allowed choices are embedded",
    ],
    ["local --target a.ts --exit-when-idle", "option '--exit-when-idle' needs '--jobs <n>'"],
    ["local --target a.ts --job 3", "unknown option '--job'"],
    ["local --target a.ts more", "too many arguments"],
    ["aws --sqs-port x", "'--sqs-port <port>' argument 'x' is invalid"],
    ["aws --seed 7", "option '--seed <n>' needs '--faults <list>'"],
    ["aws --faults PutItem:hung --seed x", "'--seed <n>' argument 'x' is invalid"],
    [
      "aws --faults PutItem:boom",
      "'--faults <list>' argument 'PutItem:boom' is invalid. there is no fault 'boom'",
    ],
    [
      "local --target a.ts --aws endpoint --faults PutItem:hung",
      "option '--faults <list>' needs '--aws embedded'",
    ],
    ["lokal", "unknown command 'lokal'"],
  ])("refuses `%s` with the value and the mend", async (line, message) => {
    const { calls, printed, run } = setup();

    const error = await run(line);

    expect(error).toBeInstanceOf(CommanderError);
    expect(error?.exitCode).not.toBe(0);
    expect(printed.join("")).toContain(message);
    expect(calls).toEqual([]);
  });

  test.each([
    ["--version", "1.2.3"],
    ["--help", "local [options]"],
    ["local --help", "--exit-when-idle"],
    ["aws --help", "--dynamodb-port <port>"],
    ["aws --help", "Faults are written ACTION:FAULT or ACTION:FAULT:CHANCE"],
    ["local --help", "done and never answered"],
  ])("answers `%s`", async (line, text) => {
    const { printed, run } = setup();

    expect((await run(line))?.exitCode).toBe(0);

    expect(printed.join("")).toContain(text);
  });
});
