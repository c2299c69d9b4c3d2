import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { startAdmin } from "@leasehold/admin";
import type { WorkerSnapshot } from "@leasehold/worker";
import { afterEach, describe, expect, test } from "vitest";

const PROGRAM = join(import.meta.dirname, "../healthcheck.ts");

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function check(...args: string[]) {
  const run = promisify(execFile)(process.execPath, ["--conditions=source", PROGRAM, ...args]);
  const { code = 0, stdout, stderr } = await run.catch((error) => error);
  return { code, stdout, stderr };
}

async function setup(health: WorkerSnapshot["health"], phase: WorkerSnapshot["phase"] = "ready") {
  const worker = { snapshot: () => ({ phase, health }) as WorkerSnapshot };
  const admin = await startAdmin({ worker, port: 0 });
  closing.push(admin.close);
  return new URL(admin.url).port;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close().closeAllConnections());
  return String((server.address() as AddressInfo).port);
}

describe("healthcheck", () => {
  test("exits 0 without a word when the worker is alive, also while it drains", async () => {
    const port = await setup({ ready: false, alive: true, reasons: ["draining"] }, "draining");

    expect(await check("--port", port)).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("exits 1 and says why when the worker is not alive", async () => {
    const port = await setup({ ready: false, alive: false, reasons: ["no poll has ended"] });

    const { code, stderr } = await check("--host", "127.0.0.1", "--port", port);

    expect(code).toBe(1);
    expect(stderr).toMatch(/not alive \(503\).*no poll has ended/s);
  });

  test("exits 1 when nobody listens", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));

    expect(await check("--port", port)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`no connection at 127.0.0.1:${port}`),
    });
  });

  test("exits 1 when nobody answers in time", async () => {
    const port = await listen(createServer(() => undefined));

    expect(await check("--port", port, "--timeout-ms", "50")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no answer within 50 ms"),
    });
  });

  test("exits 1 when an answer never ends", async () => {
    const port = await listen(createServer((_, response) => void response.write("{")));

    expect(await check("--port", port, "--timeout-ms", "200")).toMatchObject({ code: 1 });
  });

  test.each([
    [["--port", "0"], "--port must be a whole number between 1 and 65535, got 0"],
    [["--port", "http"], "got http"],
    [["--prot", "1"], "--prot"],
  ])("exits 1 and explains itself for %j", async (args, words) => {
    const { code, stderr } = await check(...args);

    expect(code).toBe(1);
    expect(stderr).toContain(words);
    expect(stderr).toContain("usage: healthcheck");
  });
});
