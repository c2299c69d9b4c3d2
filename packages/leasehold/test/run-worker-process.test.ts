import { EventEmitter } from "node:events";
import { createServer } from "node:http";
import { defineJob } from "@leasehold/job";
import type { HostProcess } from "@leasehold/process-host";
import { describe, expect, test } from "vitest";
import { defineContract } from "../index.ts";
import { runWorkerProcess, type WorkerProcessParts } from "../run-worker-process.ts";
import { anything, mail, nowhere, startSqs } from "./fixtures.ts";

const greet = defineJob({ type: "mail.greet", schema: anything, handler: () => {} });

/** A process that only remembers. */
class FakeProcess implements HostProcess {
  readonly pid = 4242;
  readonly ppid = 0;
  errors = "";
  readonly exits: number[] = [];
  readonly stderr = {
    write: (text: string) => {
      this.errors += text;
    },
  };

  readonly #events = new EventEmitter();

  on(event: string, listener: (...args: never[]) => void): void {
    this.#events.on(event, listener as () => void);
  }

  emit(signal: string): void {
    this.#events.emit(signal);
  }

  exit(code: number): void {
    this.exits.push(code);
  }
}

function setup() {
  const lines: { readonly event: string; readonly detail?: string }[] = [];
  const awaited = new Map<string, () => void>();
  const host = new FakeProcess();
  const write = (line: string) => {
    const parsed = JSON.parse(line);
    lines.push(parsed);
    awaited.get(parsed.event)?.();
  };
  const parts: WorkerProcessParts = {
    ...{ contract: mail, jobs: [greet], sqs: nowhere },
    admin: { port: 0 },
    log: { destination: { write } },
  };
  const logged = (event: string) =>
    new Promise<void>((resolve) => {
      awaited.set(event, resolve);
    });
  return { host, lines, parts, logged };
}

describe("runWorkerProcess", () => {
  test("is probed while it works, drains on SIGTERM and exits with the report's code", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const { host, lines, parts, logged } = setup();
    const ended: string[] = [];
    const ready = logged("worker.ready");

    const exit = runWorkerProcess(
      () => ({ ...parts, sqs: sqs.connection, dispose: () => void ended.push("disposed") }),
      { process: host },
    );
    await ready;
    const { detail: url } = lines.find(({ event }) => event === "admin.listening") ?? {};
    const probe = await fetch(`${url}/readyz`);
    host.emit("SIGTERM");

    expect(await exit).toBe(0);
    expect(probe.status).toBe(200);
    expect(host.exits).toEqual([0]);
    expect(ended).toEqual(["disposed"]);
    expect(lines.at(-1)?.event).toBe("drain.finished");
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  test("ends with 0 on a signal that comes while the parts are still being made", async () => {
    const { host } = setup();

    const exit = runWorkerProcess(() => new Promise<WorkerProcessParts>(() => {}), {
      process: host,
    });
    host.emit("SIGTERM");

    expect(await exit).toBe(0);
  });

  test("prints every violation of a contract and exits 78", async () => {
    const { host, parts } = setup();
    const contract = defineContract({
      preset: "drill",
      service: "mail",
      queues: [{ name: "mail", maxReceiveCount: 3 }],
      shutdown: { drainMs: 60_000 },
    });

    expect(await runWorkerProcess({ ...parts, contract }, { process: host })).toBe(78);

    expect(host.errors).toContain("B1 violation");
    expect(host.errors).toContain("B9 violation");
  });

  test("exits 78 when its parts cannot be made of the configuration", async () => {
    const { host } = setup();
    const fault = Object.assign(new Error("PORT must be a number"), { code: "INVALID_CONFIG" });

    expect(await runWorkerProcess(() => Promise.reject(fault), { process: host })).toBe(78);

    expect(host.errors).toBe("failed to start: PORT must be a number\n");
  });

  test("exits 78 when its port is taken, and gives back what it had begun", async () => {
    const { host, parts } = setup();
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as { readonly port: number };
    const ended: string[] = [];

    const exit = await runWorkerProcess(
      { ...parts, admin: { port }, dispose: () => void ended.push("disposed") },
      { process: host },
    );
    other.close();

    expect(exit).toBe(78);
    expect(host.errors).toContain("EADDRINUSE");
    expect(ended).toEqual(["disposed"]);
  });

  test("exits 69 when SQS is out of reach for longer than its patience", async () => {
    const { host, parts } = setup();

    const exit = await runWorkerProcess(
      { ...parts, options: { claimPatienceMs: 0 } },
      { process: host },
    );

    expect(exit).toBe(69);
  });
});
