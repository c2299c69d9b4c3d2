import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../program.ts";

function setup() {
  const calls: unknown[] = [];
  const program = createProgram(
    {
      local: async (flags) => void calls.push(["local", { ...flags }]),
      aws: async (flags) => void calls.push(["aws", { ...flags }]),
      drill: async (flags) => void calls.push(["drill", { ...flags }]),
      ledger: async (flags) => void calls.push(["ledger", { ...flags }]),
    },
    "1.2.3",
  );
  const printed: string[] = [];
  const capture = { writeOut: print, writeErr: print };
  function print(text: string) {
    printed.push(text);
  }
  program.configureOutput(capture);
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    command.configureOutput(capture).exitOverride();
  }
  const run = async (line: string) => runWith(line.split(" ").filter((part) => part !== ""));
  const runWith = async (args: readonly string[]) => {
    return program.parseAsync([...args], { from: "user" }).then(
      () => undefined,
      (error: CommanderError) => error,
    );
  };
  return { calls, printed, run, runWith };
}

const RESOLVE = "ledger resolve --tenant acme --type a --job 1 --reason seen";
const RESOLVED = { action: "resolve", tenant: "acme", type: "a", job: "1", reason: "seen" };

describe("the command line", () => {
  test("splits the command of a drill's workers as a shell would, and takes no empty one", async () => {
    const { calls, runWith } = setup();
    const drill = ["drill", "--target", "a.ts", "--all", "--command"];
    await runWith([...drill, "node 'my worker.js' --name \"a b\""]);
    expect(calls).toMatchObject([
      ["drill", { command: ["node", "my worker.js", "--name", "a b"] }],
    ]);
    expect((await runWith([...drill, " "]))?.message).toContain("Give a program and its arguments");
  });

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
    ["drill --list", ["drill", { list: true, times: 1, aws: "embedded" }]],
    [
      "drill --target a.ts --only idle --preset default-30 --times 20 --json r.json --html r.html",
      [
        "drill",
        {
          ...{ target: "a.ts", only: "idle", preset: "default-30", times: 20 },
          aws: "embedded",
          ...{ json: "r.json", html: "r.html" },
        },
      ],
    ],
    [
      "drill --target a.ts --all --aws endpoint",
      ["drill", { target: "a.ts", all: true, aws: "endpoint", times: 1 }],
    ],
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
    [
      "ledger show --tenant acme --type payment.capture --job inv-7 --table t",
      [
        "ledger",
        { action: "show", tenant: "acme", type: "payment.capture", job: "inv-7", table: "t" },
      ],
    ],
    ["ledger parked", ["ledger", { action: "parked", limit: 100 }]],
    [
      "ledger parked --tenant acme --limit 5 --region eu-central-1 --json",
      [
        "ledger",
        { action: "parked", tenant: "acme", limit: 5, region: "eu-central-1", json: true },
      ],
    ],
    [
      `${RESOLVE} --effect charge --done {"id":"ch_0"} --by ann`,
      ["ledger", { ...RESOLVED, effect: "charge", done: { result: { id: "ch_0" } }, by: "ann" }],
    ],
    [`${RESOLVE} --done`, ["ledger", { ...RESOLVED, done: {} }]],
    [`${RESOLVE} --done null`, ["ledger", { ...RESOLVED, done: { result: null } }]],
    [`${RESOLVE} --not-done`, ["ledger", { ...RESOLVED, notDone: true }]],
    [
      "ledger cancel --tenant acme --type a --job 1 --reason no",
      ["ledger", { action: "cancel", tenant: "acme", type: "a", job: "1", reason: "no" }],
    ],
  ])("takes `%s`", async (line, call) => {
    const { calls, run } = setup();

    expect(await run(line)).toBeUndefined();

    if (call !== undefined) expect(calls).toEqual([call]);
  });

  test.each([
    ["local", "required option '--target <file>' not specified"],
    ["local --target", "option '--target <file>' argument missing"],
    ["drill --all", "option '--target <file>' is missing: which service is drilled?"],
    ["drill --target a.ts", "give '--all', '--only <name>' or '--list'"],
    ["drill --target a.ts --all --aws cloud", "Allowed choices are embedded, endpoint."],
    ["drill --target a.ts --all --times 0", "Give a whole number between 1 and 1000."],
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
    ["ledger shwo", "unknown command 'shwo'"],
    ["ledger show --tenant acme --type a", "required option '--job <id>' not specified"],
    ["ledger show --tenant acme --type A! --job 1", "job type must be lower-case words"],
    ["ledger parked --limit 0", "a whole number between 1 and 10000"],
    ["ledger cancel --tenant acme --type a --job 1", "required option '--reason <text>'"],
    [RESOLVE, "give either '--done [json]' or '--not-done', got neither"],
    [`${RESOLVE} --done --not-done`, "got both"],
    [`${RESOLVE} --done {id:7}`, "argument '{id:7}' is invalid. It is no JSON ("],
    [`${RESOLVE} --done {id:7}`, `write --done '{"paymentId":"pi_7"}', or --done alone`],
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
    ["ledger --help", "the jobs that wait for an operator, the oldest first"],
    ["ledger resolve --help", "the same command goes on where it was"],
    ["ledger show --help", "the ledger's table (default:"],
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
