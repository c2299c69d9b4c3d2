import { describe, expect, test } from "vitest";
import { memoryReader } from "../index.ts";

const MIB = 1_048_576;

function use(files: Readonly<Record<string, string>>) {
  return memoryReader({ read: (path) => files[path], usedBytes: () => 100 * MIB })();
}

describe("the memory of a process", () => {
  test("is limited by version 2 of control groups, as a container sees it", () => {
    expect(
      use({ "/sys/fs/cgroup/memory.max": "536870912\n", "/proc/self/cgroup": "0::/\n" }),
    ).toEqual({
      usedBytes: 104_857_600,
      limitBytes: 536_870_912,
    });
  });

  test("is limited by version 1, as a container sees it", () => {
    const files = { "/sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n" };
    expect(use(files)).toEqual({ usedBytes: 104_857_600, limitBytes: 268_435_456 });
  });

  test("is limited by its own group and by every group above, whichever grants least", () => {
    const files = {
      "/proc/self/cgroup": "0::/system.slice/worker.service\n",
      "/sys/fs/cgroup/system.slice/memory.max": "1073741824\n",
      "/sys/fs/cgroup/system.slice/worker.service/memory.max": "max\n",
    };
    expect(use(files)?.limitBytes).toBe(1_073_741_824);
  });

  test("finds the memory group of version 1 among the others", () => {
    const files = {
      "/proc/self/cgroup": "12:cpu,cpuacct:/x\n4:memory:/ecs/task\n",
      "/sys/fs/cgroup/memory/ecs/task/memory.limit_in_bytes": "134217728\n",
    };
    expect(use(files)?.limitBytes).toBe(134_217_728);
  });

  test.each([
    ["nothing can be read", {}],
    ["version 2 says so", { "/sys/fs/cgroup/memory.max": "max\n" }],
    [
      "version 1 says so by a huge number",
      { "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n" },
    ],
  ])("has no limit when %s", (_, files) => {
    expect(use(files)).toBeUndefined();
  });

  test("is read anew each time", () => {
    let usedBytes = 1;
    const files: Readonly<Record<string, string>> = { "/sys/fs/cgroup/memory.max": "1000" };
    const read = memoryReader({ read: (path) => files[path], usedBytes: () => usedBytes });
    usedBytes = 2;
    expect(read()).toEqual({ usedBytes: 2, limitBytes: 1_000 });
  });

  test("of this very process can be told or has no limit", () => {
    const own = memoryReader()();
    expect(own === undefined || own.usedBytes > 10 * MIB).toBe(true);
  });
});
