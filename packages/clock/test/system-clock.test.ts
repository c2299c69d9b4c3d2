import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { systemClock } from "@leasehold/clock";
import { describe, expect, test } from "vitest";

describe("the system's clock", () => {
  test("tells the same monotonic time in every thread, so that threads can compare moments", async () => {
    const program = `
      import { parentPort } from "node:worker_threads";
      import { systemClock } from ${JSON.stringify(import.meta.resolve("@leasehold/clock"))};
      parentPort.postMessage(systemClock.monotonicMs());
    `;
    const startedAtMs = systemClock.monotonicMs();
    const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const [toldMs] = (await once(new Worker(url), "message")) as [number];

    expect(toldMs).toBeGreaterThan(startedAtMs);
    expect(toldMs).toBeLessThan(systemClock.monotonicMs());
  });
});
