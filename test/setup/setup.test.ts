/** The setup script as a process: one installation at a time, and nothing of it left behind. */

import { describe, expect, test } from "vitest";
import { SetupSite } from "./setup-site.ts";

describe("setup", () => {
  test("installs what is missing, once", async () => {
    await using site = new SetupSite();
    const first = site.start();
    expect(await first.line("begins")).toContain("begins: ci --include=dev");
    await site.endNpm(0);
    expect(await first.exitCode()).toBe(0);
    const second = site.start();
    expect(await second.exitCode()).toBe(0);
    expect(second.lines).toEqual([]);
    expect(site.isLocked).toBe(false);
  });

  test("lets a second start wait for the first, and installs nothing twice", async () => {
    await using site = new SetupSite();
    const first = site.start();
    await first.line("begins");
    const second = site.start();
    await second.line("another start is installing; waiting for it");
    await site.endNpm(0);
    expect(await first.exitCode()).toBe(0);
    expect(await second.exitCode()).toBe(0);
    expect(second.lines).toHaveLength(1);
  });

  test("hands on the exit code of an npm that failed, and the next start begins again", async () => {
    await using site = new SetupSite();
    const failed = site.start();
    await failed.line("begins");
    await site.endNpm(7);
    expect(await failed.exitCode()).toBe(7);
    expect(site.isLocked).toBe(false);
    const next = site.start();
    await next.line("begins");
    await site.endNpm(0);
    expect(await next.exitCode()).toBe(0);
  });

  test("ends an npm that is deaf to Ctrl-C", async () => {
    await using site = new SetupSite();
    const start = site.start();
    const npm = await start.npmPid();
    start.child.kill("SIGINT");
    expect(await start.exitCode()).toBe(1);
    expect(start.lines.at(-1)).toBe("setup: npm ci: SIGTERM; the next start begins again");
    expect(() => process.kill(npm, 0)).toThrow("ESRCH");
    expect(site.isLocked).toBe(false);
  });

  test("waits for an npm whose start was killed", async () => {
    await using site = new SetupSite();
    const killed = site.start();
    await killed.line("begins");
    killed.child.kill("SIGKILL");
    expect(await killed.exitCode()).toBe(null);
    const next = site.start();
    await next.line("another start is installing; waiting for it");
    await site.endNpm(0);
    expect(await next.exitCode()).toBe(0);
    expect(next.lines).toHaveLength(1);
  });

  test("takes over the lock of a start that is gone with its npm", async () => {
    await using site = new SetupSite();
    const killed = site.start();
    await killed.line("begins");
    await killed.kill();
    expect(site.isLocked).toBe(true);
    const next = site.start();
    await next.line("begins");
    await site.endNpm(0);
    expect(await next.exitCode()).toBe(0);
  });
});
