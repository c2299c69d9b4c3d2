import { describe, expect, test } from "vitest";
import { JobSurroundings, type WrappedEnd } from "../job-surroundings.ts";

describe("JobSurroundings", () => {
  test("ends what was begun last first, and tells those before it of what went wrong there", async () => {
    const seen: string[] = [];
    const note = (name: string) => (end: WrappedEnd) => void seen.push(`${name} ${end.kind}`);
    const surroundings = JobSurroundings.open({} as never, {} as never);
    surroundings.onClose(note("span"));
    surroundings.onClose(() => {
      throw new Error("not recorded");
    });
    surroundings.onClose(note("guard"));
    const closed = surroundings.close({ kind: "returned", result: 1 });
    await expect(closed).rejects.toThrow("not recorded");
    expect(seen).toEqual(["guard returned", "span threw"]);
  });

  test("lets what the handler threw stand, whatever goes wrong after it", async () => {
    const surroundings = JobSurroundings.open({} as never, {} as never);
    surroundings.onClose(() => {
      throw new Error("not recorded");
    });
    const closed = surroundings.close({ kind: "threw", thrown: new Error("the first") });
    await expect(closed).resolves.toBeUndefined();
  });
});
