import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { countReceipts } from "../count-receipts.ts";
import { openSessionFolder } from "../session-folder.ts";

describe("the folder of a session", () => {
  test("is the one that was chosen, and is kept", async () => {
    const chosen = join(await mkdtemp(join(tmpdir(), "leasehold-test-")), "new", "one");
    onTestFinished(() => rm(chosen, { recursive: true }));

    const folder = await openSessionFolder(chosen);

    expect(folder).toEqual({ path: chosen, isKept: true, receipts: join(chosen, "receipts") });
    expect((await stat(folder.receipts)).isDirectory()).toBe(true);
    expect(await countReceipts(folder.receipts)).toBe(0);
  });

  test("is a new temporary one each time when none was chosen", async () => {
    const [first, second] = [
      await openSessionFolder(undefined),
      await openSessionFolder(undefined),
    ];
    for (const { path } of [first, second]) onTestFinished(() => rm(path, { recursive: true }));

    expect(first.path).not.toBe(second.path);
    expect(first.path.startsWith(tmpdir())).toBe(true);
    expect(first.isKept).toBe(false);
  });
});
