import { createLogger, type LoggerOptions, logEvents, startTelemetry } from "@leasehold/telemetry";
import type { WorkerEvent, WorkerListener, WorkerSnapshot } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import { job, lease, lines, samples } from "./sample-events.ts";

function setup(level: LoggerOptions["level"] = "debug") {
  const written: string[] = [];
  const listeners = new Set<WorkerListener>();
  const worker = {
    onEvent: (listener: WorkerListener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    snapshot: () =>
      ({ service: "billing", version: "1.2.3", workerId: "w-1" }) as unknown as WorkerSnapshot,
  };
  const options = {
    level,
    destination: { write: (line: string) => void written.push(line) },
    wallMs: () => Date.UTC(2026, 0, 1),
  };
  const logger = createLogger({
    ...options,
    service: "billing",
    version: "1.2.3",
    workerId: "w-1",
  });
  const report = (event: WorkerEvent) => {
    for (const listener of listeners) listener(event);
  };
  return { worker, logger, options, report, written };
}

const kinds = Object.keys(samples) as WorkerEvent["kind"][];

describe("logEvents", () => {
  test.each(kinds)("writes %s with its level, its fields and the worker", (kind) => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);

    report(samples[kind]);

    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(written[0] ?? "")).toEqual({
      time: "2026-01-01T00:00:00.000Z",
      service: "billing",
      version: "1.2.3",
      worker_id: "w-1",
      event: kind,
      msg: expect.stringMatching(/\w/),
      ...lines[kind],
    });
  });

  test.each([
    ["succeeded", "info", "a job succeeded"],
    ["retry-later", "info", "a job asked to be tried again later"],
    ["interrupted", "info", "a job was interrupted and goes back to the queue"],
    ["failed", "warn", "a job failed and will be tried again"],
    ["dead-lettered", "warn", "a job goes to the dead-letter queue"],
    ["lease-lost", "warn", "a job ended after its lease was lost; nothing was settled"],
  ] as const)("tells the outcome %s at level %s", (outcome, level, msg) => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);

    report({ kind: "job.ended", lease, job, attempt: 1, outcome, durationMs: 5 });

    expect(JSON.parse(written[0] ?? "")).toMatchObject({ level, outcome, msg });
  });

  test.each([
    ["failed", "Error: no\n    at somewhere"],
    ["retry-later", undefined],
  ] as const)("shows the stack of what was not planned only: %s", (outcome, shown) => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);
    const error = { name: "Error", message: "no", stack: "Error: no\n    at somewhere" };

    report({ kind: "job.ended", lease, job, attempt: 1, outcome, durationMs: 5.4321, error });

    const line = JSON.parse(written[0] ?? "");
    expect(line.error_stack).toBe(shown);
    expect(line).toMatchObject({ error_name: "Error", error_message: "no", duration_ms: 5.4 });
  });

  test("tells a clean drain and a passing fault of a poll less gravely", () => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);
    const finished = samples["drain.finished"];

    report({ ...finished, report: { ...finished.report, exitCode: 0 } });
    report({ ...samples["claim.failed"], retryable: true });
    report({ ...samples["drain.tapered"], refused: 0 });

    expect(written.map((line) => JSON.parse(line).level)).toEqual(["info", "warn", "info"]);
  });

  test("tells other causes of a drain", () => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);
    const started = samples["drain.started"];

    report({ ...started, cause: { kind: "request", by: "admin" } });
    report({ ...started, cause: { kind: "fatal", error: { name: "E", message: "gone" } } });

    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { cause: "request", requested_by: "admin" },
      { cause: "fatal", error_name: "E", error_message: "gone" },
    ]);
  });

  test("never prints what strays into an event, at any depth", () => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);
    const stray = {
      payload: "hunter2",
      body: "hunter2",
      receiptHandle: "hunter2",
      note: "hunter2",
    };

    for (const kind of kinds) {
      report({
        ...samples[kind],
        ...stray,
        lease: { ...lease, ...stray },
        job: { ...job, ...stray },
        tenantId: { deep: "hunter2" },
        queues: [{ deep: "hunter2" }],
      } as unknown as WorkerEvent);
    }

    expect(written).toHaveLength(kinds.length);
    expect(written.join("")).not.toContain("hunter2");
  });

  test("tells a kind that it does not know by its name and its known fields", () => {
    const { worker, logger, report, written } = setup();
    logEvents(worker, logger);

    report({ kind: "lease.blessed", lease, wine: "red" } as unknown as WorkerEvent);

    expect(JSON.parse(written[0] ?? "")).toMatchObject({ event: "lease.blessed", queue: "jobs" });
    expect(written[0]).not.toContain("wine");
  });

  test("prints what the level asks for", () => {
    const { worker, logger, report, written } = setup("warn");
    logEvents(worker, logger);

    report(samples["lease.claimed"]);
    report(samples["job.started"]);
    report(samples["lease.lost"]);

    expect(written.map((line) => JSON.parse(line).event)).toEqual(["lease.lost"]);
  });

  test("stops when told", () => {
    const { worker, logger, report, written } = setup();
    const stop = logEvents(worker, logger);

    stop();
    report(samples["worker.ready"]);

    expect(written).toEqual([]);
  });
});

describe("startTelemetry", () => {
  test("takes service, version and worker from the worker itself", () => {
    const { worker, options, report, written } = setup();
    const telemetry = startTelemetry(worker, options);

    report(samples["worker.ready"]);
    telemetry.logger.write("info", "service.note", "hello", { code: "X" });
    telemetry.stop();
    report(samples["worker.ready"]);

    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { event: "worker.ready", service: "billing", version: "1.2.3", worker_id: "w-1" },
      { event: "service.note", msg: "hello", code: "X", worker_id: "w-1" },
    ]);
  });
});
