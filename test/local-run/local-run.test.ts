import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { hasPoppler } from "../verify-run/receipt-files.ts";
import { CliProcess } from "./cli-process.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

test("the billing worker works off its jobs, and a judge from outside finds nothing amiss", async () => {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const target = join(root, "packages/billing-worker/billing-target.ts");

  const cli = new CliProcess([
    ...["local", "--target", target, "--data", folder, "--seed", "7"],
    ...["--jobs", "10", "--exit-when-idle", "--json"],
  ]);
  const { exitCode, lines } = await cli.ended();

  expect(exitCode).toBe(0);
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual({
    event: "run.summary",
    sent: 10,
    acked: 15,
    released: 0,
    dead_lettered: 0,
    leases_lost: 0,
    extended: expect.any(Number),
    receipts: 5,
    exit_code: 0,
  });
  const inside = (await hasPoppler()) ? [] : ["--without-pdfinfo"];
  const { stdout } = await run(process.execPath, [
    ...["--conditions=source", join(root, "test/verify-run.ts")],
    ...["--data", folder, "--json", ...inside],
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ failed: 0, looksInside: inside.length === 0 });
});
