import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { systemClock } from "@leasehold/clock";
import { expect, test } from "vitest";
import { runDrillCommand } from "../drill-command.ts";
import { Output } from "../output.ts";
import { SignalPresses } from "../signal-presses.ts";

function setup() {
  const stdout = new PassThrough();
  const output = new Output({ stdout, stderr: new PassThrough(), json: false });
  const host = { output, clock: systemClock, presses: new SignalPresses(systemClock) };
  const printed = () => text(stdout.end());
  return { host: { ...host, environment: {} }, printed };
}

test("tells what each scenario is about, and needs no service for it", async () => {
  const { host, printed } = setup();
  expect(
    await runDrillCommand({ list: true, times: 1, aws: "embedded", only: "SIGTERM" }, host),
  ).toBe(0);
  expect(await printed()).toBe(
    "double SIGTERM\n    Two signals within a second are one: the job may still end by itself.\n",
  );
});

test("refuses a name that no scenario has, and says where the names are", async () => {
  const { host } = setup();
  await expect(
    runDrillCommand({ target: "a.ts", only: "SIGTREM", times: 1, aws: "embedded" }, host),
  ).rejects.toThrow('no scenario is named like "SIGTREM": see drill --list');
});

test("refuses an endpoint that it cannot watch, before anything is started", async () => {
  const { host } = setup();
  const environment = { AWS_ENDPOINT_URL: "https://sqs.eu-central-1.amazonaws.com" };
  const flags = { target: "a.ts", all: true, times: 1, aws: "endpoint" } as const;
  await expect(runDrillCommand(flags, { ...host, environment })).rejects.toThrow(
    "begins with http:, for example http://127.0.0.1:4566, got https://sqs.eu-central-1",
  );
});
