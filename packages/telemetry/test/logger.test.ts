import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createLogger, type LineFields } from "@leasehold/telemetry";
import { describe, expect, test } from "vitest";

function setup() {
  const written: string[] = [];
  const logger = createLogger({
    service: "billing",
    version: "1",
    workerId: "w-1",
    destination: { write: (line) => void written.push(line) },
  });
  const write = (message: string, fields?: LineFields) => {
    logger.write("info", "test.event", message, fields);
    return JSON.parse(written.at(-1) ?? "");
  };
  return { logger, write, written };
}

describe("createLogger", () => {
  test("writes level, ISO time, event, message and who writes", () => {
    const { write } = setup();

    expect(write("hello")).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: "billing",
      version: "1",
      worker_id: "w-1",
      event: "test.event",
      msg: "hello",
    });
  });

  test("drops fields that have no name, also those that would pose as another", () => {
    const { write } = setup();

    const line = write("x", { code: "A", payload: 1, event: "y", worker_id: "y", __proto__x: 1 });

    expect(line).toMatchObject({ code: "A", event: "test.event", worker_id: "w-1" });
    expect(line).not.toHaveProperty("payload");
    expect(line).not.toHaveProperty("__proto__x");
  });

  test("hides what sounds secret within a handler's fields", () => {
    const { write } = setup();
    const fields = { pages: 2, Password: "a", apiKey: "a", cardNumber: "4111", discarded: 3 };

    expect(write("x", { fields })).toMatchObject({
      fields: {
        pages: 2,
        Password: "[redacted]",
        apiKey: "[redacted]",
        cardNumber: "[redacted]",
        discarded: 3,
      },
    });
  });

  test("cuts texts too long for a reason", () => {
    const { write } = setup();
    const long = "x".repeat(20_000);

    const line = write(long, { detail: long, error_stack: long, fields: { note: long } });

    const cut = `${"x".repeat(1_000)}... (20000 characters)`;
    expect(line).toMatchObject({ msg: cut, detail: cut, fields: { note: cut } });
    expect(line.error_stack).toBe(`${"x".repeat(8_000)}... (20000 characters)`);
  });

  test("takes a message as it is, with percent signs and line breaks, on one line", () => {
    const { write, written } = setup();

    expect(write("50 %s\n{}").msg).toBe("50 %s\n{}");
    expect(written.join("").match(/\n/g)).toHaveLength(1);
  });

  test("says which levels are printed", () => {
    const { logger } = setup();

    expect(logger.isEnabled("debug")).toBe(false);
    expect(logger.isEnabled("fatal")).toBe(true);
  });

  test("has every line out before the process ends at once", async () => {
    const program = `
      import { createLogger } from "@leasehold/telemetry";
      const logger = createLogger({ service: "s", version: "1", workerId: "w" });
      for (let line = 0; line < 5000; line += 1) {
        logger.write("info", "test.event", "x".repeat(500), { attempt: line });
      }
      process.exit(75);
    `;
    const run = promisify(execFile)(
      process.execPath,
      ["--conditions=source", "--input-type=module", "--eval", program],
      { cwd: import.meta.dirname, maxBuffer: 64 * 1024 * 1024 },
    );

    const { code, stdout } = await run.catch((error) => error);

    expect(code).toBe(75);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1))).toMatchObject({ attempt: 4_999 });
    expect(stdout.match(/\n/g)).toHaveLength(5_000);
  });
});
