import { get, request } from "node:http";
import { connect, type Socket } from "node:net";
import { type AdminArguments, startAdmin } from "@leasehold/admin";
import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import type { WorkerSnapshot } from "@leasehold/worker";
import { afterEach, describe, expect, test } from "vitest";

const ready: WorkerSnapshot = {
  workerId: "w-1",
  service: "billing",
  version: "1.2.3",
  phase: "ready",
  health: { ready: true, alive: true, reasons: [] },
  startedAtMs: Date.UTC(2026, 0, 1),
  slots: { total: 8, busy: 1 },
  queues: [{ name: "jobs", openPolls: 1, oldestPollMs: 900, unconfirmedAcks: 2, backoffMs: 0 }],
  held: [
    {
      queue: "jobs",
      messageId: "m-1",
      receiveCount: 2,
      job: {
        tenantId: parseTenantId("acme"),
        jobId: parseJobId("inv-7"),
        jobType: parseJobType("receipt.render"),
      },
      leaseState: "running",
      started: true,
      heldMs: 1_200,
      leaseRemainingMs: 58_000,
    },
    {
      queue: "jobs",
      messageId: "m-2",
      receiveCount: 1,
      leaseState: "received",
      started: false,
      heldMs: 3,
      leaseRemainingMs: 59_000,
    },
  ],
  totals: {
    claimed: 9,
    acked: 5,
    retried: 1,
    released: 1,
    deadLettered: 0,
    lost: 0,
    extended: 12,
  },
};
const draining: WorkerSnapshot = {
  ...ready,
  phase: "draining",
  health: { ready: false, alive: true, reasons: ["draining"] },
  drainByMs: Date.UTC(2026, 0, 1, 0, 0, 20),
  killAtMs: Date.UTC(2026, 0, 1, 0, 0, 30),
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function setup(snapshot: WorkerSnapshot = ready, more: Partial<AdminArguments> = {}) {
  let current = snapshot;
  const admin = await startAdmin({ worker: { snapshot: () => current }, port: 0, ...more });
  closing.push(admin.close);
  return {
    admin,
    become: (next: WorkerSnapshot) => {
      current = next;
    },
    ask: async (path: string, method = "GET") => {
      const response = await fetch(`${admin.url}${path}`, { method });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text };
    },
  };
}

describe("/livez and /readyz", () => {
  test("say yes while the worker claims", async () => {
    const { ask } = await setup();

    expect(await ask("/livez")).toMatchObject({ status: 200 });
    const { status, text } = await ask("/readyz?from=probe");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ ready: true, phase: "ready", reasons: [] });
  });

  test("say alive but not ready, and why, from the moment the drain has begun", async () => {
    const { ask, become } = await setup();
    become(draining);

    expect((await ask("/livez")).status).toBe(200);
    const { status, text } = await ask("/readyz");
    expect(status).toBe(503);
    expect(JSON.parse(text)).toEqual({ ready: false, phase: "draining", reasons: ["draining"] });
  });

  test("say not alive, and why, when only a new process helps", async () => {
    const reasons = ["no poll of jobs has ended for 61 s"];
    const { ask } = await setup({ ...ready, health: { ready: false, alive: false, reasons } });

    const { status, text } = await ask("/livez");

    expect(status).toBe(503);
    expect(JSON.parse(text)).toEqual({ alive: false, phase: "ready", reasons });
  });
});

describe("/status", () => {
  test("shows the worker and each message that it holds, in snake_case", async () => {
    const { ask } = await setup(draining);

    const { text, headers } = await ask("/status");

    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(JSON.parse(text)).toEqual({
      service: "billing",
      version: "1.2.3",
      worker_id: "w-1",
      phase: "draining",
      health: { ready: false, alive: true, reasons: ["draining"] },
      started_at: "2026-01-01T00:00:00.000Z",
      drain_by: "2026-01-01T00:00:20.000Z",
      kill_at: "2026-01-01T00:00:30.000Z",
      slots: { total: 8, busy: 1 },
      queues: [
        { name: "jobs", open_polls: 1, oldest_poll_ms: 900, unconfirmed_acks: 2, backoff_ms: 0 },
      ],
      held: [
        {
          tenant_id: "acme",
          job_id: "inv-7",
          job_type: "receipt.render",
          queue: "jobs",
          message_id: "m-1",
          receive_count: 2,
          lease_state: "running",
          started: true,
          held_ms: 1_200,
          lease_remaining_ms: 58_000,
        },
        {
          tenant_id: null,
          job_id: null,
          job_type: null,
          queue: "jobs",
          message_id: "m-2",
          receive_count: 1,
          lease_state: "received",
          started: false,
          held_ms: 3,
          lease_remaining_ms: 59_000,
        },
      ],
      totals: {
        claimed: 9,
        acked: 5,
        retried: 1,
        released: 1,
        dead_lettered: 0,
        lost: 0,
        extended: 12,
      },
    });
  });

  test("has null for the deadlines of a drain that has not begun", async () => {
    const { ask } = await setup();

    expect(JSON.parse((await ask("/status")).text)).toMatchObject({
      drain_by: null,
      kill_at: null,
    });
  });
});

describe("/metrics", () => {
  test("hands the given text on", async () => {
    const { ask } = await setup(ready, { metrics: async () => "leases_held 2\n" });

    const { status, text, headers } = await ask("/metrics");

    expect([status, text]).toEqual([200, "leases_held 2\n"]);
    expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  test("is unknown when there are none", async () => {
    const { ask } = await setup();

    expect((await ask("/metrics")).status).toBe(404);
  });
});

describe("startAdmin", () => {
  test("listens on this machine only, on a free port when asked for 0", async () => {
    const { admin } = await setup();

    expect(admin.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(admin.url).not.toMatch(/:0$/);
  });

  test("shows an IPv6 address as a URL has it", async () => {
    const { admin, ask } = await setup(ready, { host: "::1" });

    expect(admin.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await ask("/livez")).status).toBe(200);
  });

  test("answers HEAD with the headers of GET and no body", async () => {
    const { ask } = await setup();
    const { text } = await ask("/status");

    const head = await ask("/status", "HEAD");

    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.get("content-length")).toBe(String(text.length));
  });

  test.each(["/", "/livez/", "/favicon.ico", "/..%2fstatus"])(
    "knows no %s and names what it knows",
    async (path) => {
      const { ask } = await setup();

      const { status, text } = await ask(path);

      expect(status).toBe(404);
      expect(JSON.parse(text)).toEqual({
        error: "not found",
        paths: ["/livez", "/readyz", "/status"],
      });
    },
  );

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("refuses %s", async (method) => {
    const { ask } = await setup();

    const { status, headers } = await ask("/status", method);

    expect(status).toBe(405);
    expect(headers.get("allow")).toBe("GET, HEAD");
  });

  test("reads a body away and serves the same connection again", async () => {
    const { admin, ask } = await setup();

    const response = await fetch(`${admin.url}/status`, {
      method: "POST",
      body: "x".repeat(1_000_000),
    });

    expect(response.status).toBe(405);
    expect((await ask("/livez")).status).toBe(200);
  });

  test("survives a target that is no path", async () => {
    const { admin, ask } = await setup();
    const { hostname, port } = new URL(admin.url);

    const status = await new Promise((resolve) => {
      request({ hostname, port, path: "//[", method: "GET" }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });

    expect(status).toBe(404);
    expect((await ask("/livez")).status).toBe(200);
  });

  test("answers 500 by the error's name when a part throws, and goes on", async () => {
    const metrics = () => {
      throw new TypeError("hunter2");
    };
    const { ask } = await setup(ready, { metrics });

    const { status, text } = await ask("/metrics");

    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({ error: "TypeError" });
    expect((await ask("/livez")).status).toBe(200);
  });

  test("says so when the port is taken", async () => {
    const { admin } = await setup();
    const port = Number(new URL(admin.url).port);

    await expect(setup(ready, { port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("refuses options that make no sense, unknown ones too", async () => {
    await expect(setup(ready, { port: 70_000 })).rejects.toThrow("port must be a whole number");
    await expect(setup(ready, { prot: 1 } as object)).rejects.toThrow(
      "prot is not a server option",
    );
  });
});

describe("close", () => {
  test("ends connections that are kept alive, and those that have asked nothing yet", async () => {
    const { admin } = await setup();
    const { hostname, port } = new URL(admin.url);
    const silent = connect(Number(port), hostname);
    await new Promise((resolve) => silent.once("connect", resolve));
    const keptAlive = await new Promise<Socket>((resolve) => {
      get(`${admin.url}/livez`, { headers: { connection: "keep-alive" } }, (response) => {
        const { socket } = response;
        response.resume().on("end", () => resolve(socket));
      });
    });
    const ended = [silent, keptAlive].map(
      (socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve)),
    );

    await admin.close();
    await Promise.all(ended);

    await expect(fetch(`${admin.url}/livez`)).rejects.toThrow();
  });

  test("may be called twice, also at once", async () => {
    const { admin } = await setup();

    await Promise.all([admin.close(), admin.close()]);
    await admin.close();
  });
});
