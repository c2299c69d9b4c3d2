import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { CliProcess } from "./cli-process.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

// A process of its own, whose worker holds charges back for a while after the third lost answer.
const LONGEST_MS = 90_000;

test(
  "invoices are charged once although each first answer of the provider is lost",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "leasehold-test-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const target = join(root, "packages/billing-worker/billing-target.ts");
    const cli = new CliProcess([
      ...["local", "--target", target, "--data", folder, "--seed", "7"],
      ...["--jobs", "12", "--exit-when-idle", "--json"],
    ]);
    // The worker is still loading when this is known: nothing was charged yet.
    const started = JSON.parse(await cli.line('"event":"session.started"'));
    const faults = [{ request: 1, fault: { kind: "reset", when: "after" } }];
    const endpoint: string = started.payments_endpoint;
    const put = { method: "PUT", body: JSON.stringify(faults) };
    expect((await fetch(`${endpoint}/_leasehold/faults`, put)).status).toBe(200);

    const { exitCode, lines } = await cli.ended();

    expect(exitCode).toBe(0);
    const takenOver = lines.filter((line) => line.includes('"event":"effect.taken-over"'));
    expect(takenOver.length).toBeGreaterThan(2);
    const { stdout } = await run(process.execPath, [
      ...["--conditions=source", join(root, "test/verify-run.ts")],
      ...["--data", folder, "--json", "--without-pdfinfo"],
    ]);
    const { failed, checks } = JSON.parse(stdout);
    expect(failed).toBe(0);
    const name = "exactly one charge for each captured invoice, none for others";
    expect(checks).toContainEqual({ name, examined: takenOver.length, faults: [] });
  },
  LONGEST_MS,
);
