import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { GetQueueUrlCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { defineJob } from "@leasehold/job";
import type { HostProcess } from "@leasehold/process-host";
import { describe, expect, test } from "vitest";
import { defineContract } from "../index.ts";
import { runWorkerProcess, type WorkerProcessParts } from "../run-worker-process.ts";
import { anything, mail, nowhere, type SqsHere, startSqs } from "./fixtures.ts";

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

/** The ECS agent, as far as a good answer goes; how it fails is tested with the client itself. */
async function startAgent() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    bodies.push(body);
    const ProtectionEnabled = body.includes("true");
    const ExpirationDate = ProtectionEnabled ? "2026-01-01T01:02:03.456Z" : null;
    response.end(JSON.stringify({ protection: { ProtectionEnabled, ExpirationDate } }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  return {
    uri: `http://127.0.0.1:${port}/api/0f9e`,
    bodies,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send({ client }: SqsHere): Promise<void> {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: "mail" }));
  const body = {
    ...{ v: 1, type: "mail.greet", job_id: "j1", tenant_id: "t1" },
    ...{ created_at: "2026-01-01T00:00:00.000Z", payload: {} },
  };
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(body) }));
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

  test("protects its ECS task while it holds a job, for as long as the contract says", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    await using agent = await startAgent();
    const { host, lines, parts, logged } = setup();
    const running = Promise.withResolvers<void>();
    const hold = defineJob({
      ...{ type: "mail.greet", schema: anything },
      handler: () => running.promise,
    });
    const contract = defineContract({
      ...{ preset: "drill", service: "mail", queues: [{ name: "mail" }] },
      platform: { taskProtectionMinutes: 10 },
    });
    const isProtected = logged("protection.set");
    const isFree = logged("protection.cleared");

    const exit = runWorkerProcess(
      {
        ...{ ...parts, contract, jobs: [hold], sqs: sqs.connection },
        taskProtection: { agentUri: agent.uri },
      },
      { process: host },
    );
    await send(sqs);
    await isProtected;
    host.emit("SIGTERM");
    await isFree;
    running.resolve();

    expect(await exit).toBe(0);
    expect(agent.bodies).toEqual([
      '{"ProtectionEnabled":true,"ExpiresInMinutes":10}',
      '{"ProtectionEnabled":false}',
    ]);
    expect(lines.find(({ event }) => event === "protection.set")).toMatchObject({
      ...{ level: "info", why: "busy", detail: "until 2026-01-01T01:02:03.456Z" },
    });
    expect(lines.find(({ event }) => event === "protection.cleared")).toMatchObject({
      why: "drain",
    });
  });

  test("does its work where the ECS agent does not answer, and says so", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const { host, lines, parts, logged } = setup();
    const contract = defineContract({
      ...{ preset: "drill", service: "mail", queues: [{ name: "mail" }] },
      platform: { taskProtectionMinutes: 10 },
    });
    const failed = logged("protection.failed");
    const done = logged("job.ended");

    const exit = runWorkerProcess(
      {
        ...{ ...parts, contract, sqs: sqs.connection },
        taskProtection: { agentUri: "http://127.0.0.1:9/api/0f9e" },
      },
      { process: host },
    );
    await send(sqs);
    await Promise.all([failed, done]);
    host.emit("SIGTERM");

    expect(await exit).toBe(0);
    expect(lines.find(({ event }) => event === "protection.failed")).toMatchObject({
      ...{ level: "warn", code: "ECONNREFUSED", why: "busy", retry_in_ms: 2_000 },
    });
    expect(lines.find(({ event }) => event === "job.ended")).toMatchObject({
      outcome: "succeeded",
    });
  });

  test("warns when its contract has no time for the protection that it was asked for", async () => {
    const { host, lines, parts } = setup();

    await runWorkerProcess(
      {
        ...{ ...parts, options: { claimPatienceMs: 0 } },
        taskProtection: { agentUri: "http://127.0.0.1:9" },
      },
      { process: host },
    );

    expect(lines.find(({ event }) => event === "protection.off")).toMatchObject({
      level: "warn",
      mend: "choose a preset for ECS, or set platform.taskProtectionMinutes",
    });
  });

  test("exits 78 when the protection that it was asked for makes no sense", async () => {
    const { host, parts } = setup();
    const taskProtection = { agentUri: "169.254.170.2", breatherMs: 5 };

    expect(await runWorkerProcess({ ...parts, taskProtection }, { process: host })).toBe(78);

    expect(host.errors).toContain("agentUri must be the http address of the ECS agent");
    expect(host.errors).toContain("breatherMs must be a number between 1000 and 3600000, got 5");
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
