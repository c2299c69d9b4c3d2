import { EventEmitter } from "node:events";
import { ManualClock } from "@leasehold/clock/manual";
import { defineContract } from "@leasehold/deployment-contract";
import { defineJob } from "@leasehold/job";
import { createWorker, type Worker } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { type HostOptions, runProcess } from "../index.ts";

/** A process that only remembers what was done to it. */
class FakeProcess extends EventEmitter {
  readonly pid = 42;
  readonly ppid = 0;
  readonly exits: number[] = [];
  readonly written: string[] = [];
  readonly stderr = { write: (text: string) => this.written.push(text) };
  readonly channel: object | undefined;

  constructor(channel?: object) {
    super();
    this.channel = channel;
  }

  exit(code: number): void {
    this.exits.push(code);
  }
}

async function setup({
  handler = () => undefined,
  channel,
  ...options
}: {
  readonly handler?: (signal: () => AbortSignal) => unknown;
  readonly channel?: object;
} & HostOptions = {}) {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const host = new FakeProcess(channel);
  const make = () =>
    createWorker({
      contract: defineContract({ preset: "drill", service: "t", queues: [{ name: "jobs" }] }),
      jobs: [
        defineJob({
          type: "test.work",
          schema: z.unknown(),
          handler: (_, context) => handler(() => context.signal),
        }),
      ],
      queues: [queue],
      clock,
      random: () => 0.5,
    });
  const run = (maker: () => Worker | Promise<Worker> = make) => {
    const ended = runProcess(maker, { clock, process: host, ...options });
    return { ended };
  };
  const send = () =>
    queue.send({
      body: JSON.stringify({
        ...{ v: 1, type: "test.work", job_id: "j", tenant_id: "t" },
        ...{ created_at: "2026-01-01T00:00:00.000Z", payload: {} },
      }),
    });
  return { clock, queue, host, make, run, send };
}

describe("runProcess", () => {
  test("drains at SIGTERM and ends with the worker's exit code", async () => {
    const { clock, host, run } = await setup();
    const { ended } = run();
    await clock.advance(500);
    host.emit("SIGTERM");
    await clock.advance(3_000);

    expect(await ended).toBe(0);
    expect(host.exits).toEqual([0]);
    expect(clock.pendingTimers).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])("hears %s", async (signal) => {
    const { clock, host, run } = await setup();
    void run();
    await clock.advance(500);
    host.emit(signal);
    await clock.advance(15_000);
    expect(host.exits).toEqual([0]);
  });

  test("ends with 0 at a signal that comes before there is a worker", async () => {
    const { clock, host, queue, run, make } = await setup();
    const wiring = Promise.withResolvers<Worker>();
    const { ended } = run(() => wiring.promise);
    host.emit("SIGTERM");
    expect(await ended).toBe(0);
    wiring.resolve(make());
    await clock.advance(5_000);
    expect(queue.calls).toEqual([]);
    expect(host.exits).toEqual([0]);
  });

  test("keeps listening to the end, and forces it at the fourth signal", async () => {
    const { clock, host, run, send, queue } = await setup({ handler: () => new Promise(() => {}) });
    await send();
    void run();
    await clock.advance(500);
    queue.fault = ({ kind }) =>
      kind === "changeVisibility" ? { kind: "slow-request", delayMs: 60_000 } : undefined;
    for (const signal of ["SIGTERM", "SIGTERM", "SIGTERM"]) {
      host.emit(signal);
      await clock.advance(1_000);
    }
    expect(host.exits).toEqual([]);
    host.emit("SIGQUIT");
    expect(host.exits).toEqual([131]);
    expect(host.listenerCount("SIGTERM")).toBe(1);
  });

  test("ends itself half a second before the platform would", async () => {
    const { clock, host, run } = await setup({ onEnded: () => new Promise(() => {}) });
    void run();
    await clock.advance(500);
    host.emit("SIGTERM");
    await clock.advance(13_400);
    expect(host.exits).toEqual([]);
    await clock.advance(200);
    expect(host.exits).toEqual([143]);
    expect(host.written.join("")).toContain("did not end in time");
  });

  test("drains after an uncaught error and ends with 70", async () => {
    const { clock, host, run, send } = await setup({
      handler: (signal) => clock.sleep(60_000, signal()),
    });
    await send();
    void run();
    await clock.advance(500);
    host.emit("uncaughtException", new TypeError("x is not a function"));
    host.emit("unhandledRejection", "again");
    await clock.advance(14_000);
    expect(host.exits).toEqual([70]);
    expect(host.written.join("")).toContain("x is not a function");
  });

  test("ends with 70 even when the error comes within a clean drain", async () => {
    const { clock, host, run } = await setup();
    void run();
    await clock.advance(500);
    host.emit("SIGTERM");
    host.emit("unhandledRejection", new Error("late"));
    await clock.advance(5_000);
    expect(host.exits).toEqual([70]);
  });

  test("ends with 78 and every word of it when the contract contradicts itself", async () => {
    const { host, run, queue, clock } = await setup();
    const contract = defineContract({
      preset: "drill",
      service: "t",
      queues: [{ name: "jobs" }],
      platform: { graceMs: 5_000 },
    });
    const { ended } = run(() => createWorker({ contract, jobs: [], queues: [queue], clock }));
    expect(await ended).toBe(78);
    expect(host.written.join("")).toContain("B1 violation");
    expect(host.written.join("")).toContain("mend:");
    expect(host.written.join("")).not.toContain("    at ");
  });

  test("ends with 70 when it cannot be wired for another reason", async () => {
    const { run } = await setup();
    const { ended } = run(() => Promise.reject(new Error("no such host")));
    expect(await ended).toBe(70);
  });

  test("dumps leases, polls and slots at SIGUSR2", async () => {
    const lines: string[] = [];
    const { clock, host, run, send } = await setup({
      handler: () => clock.sleep(5_000),
      write: (line) => lines.push(line),
    });
    host.emit("SIGUSR2");
    await send();
    void run();
    await clock.advance(500);
    host.emit("SIGUSR2");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      event: "worker.snapshot",
      phase: "ready",
      held: [{ job: { jobId: "j" }, started: true }],
      queues: [{ openPolls: 1 }],
    });
  });

  test("drains when a parent with a channel goes, and asks nobody without one", async () => {
    const { clock, host, run } = await setup({ channel: {} });
    void run();
    await clock.advance(500);
    host.emit("disconnect");
    await clock.advance(5_000);
    expect(host.exits).toEqual([0]);

    const alone = await setup();
    void alone.run();
    expect(alone.host.listenerCount("disconnect")).toBe(0);
  });

  test("hands report and exit code to the last words, which cannot break the end", async () => {
    const heard: unknown[] = [];
    const { clock, host, run } = await setup({
      onEnded: (report, exitCode) => {
        heard.push(report?.cause, exitCode);
        throw new Error("log is gone");
      },
    });
    void run();
    await clock.advance(500);
    host.emit("SIGINT");
    await clock.advance(5_000);
    expect(heard).toEqual([{ kind: "signal", signal: "SIGINT" }, 0]);
    expect(host.exits).toEqual([0]);
  });
});
