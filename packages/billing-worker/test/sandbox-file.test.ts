import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { readCharges, startPaymentSandbox } from "../payment/payment-sandbox.ts";
import { plainStripe, startPaymentSite, temporaryFile } from "./payment-site.ts";

const MAIN = fileURLToPath(new URL("../payment/payment-sandbox-main.ts", import.meta.url));
const parameters = {
  amount: 2_000,
  currency: "eur",
  payment_method: "pm_card_visa",
  confirm: true,
  metadata: { invoice_id: "INV-7" },
};

interface Program {
  readonly child: ChildProcess;
  readonly endpoint: string;
}

/** The sandbox as a process of its own, once it listens. */
async function startProgram(file: string): Promise<Program> {
  const child = spawn(process.execPath, ["--conditions=source", MAIN, "--file", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: child.stdout as never }), "line");
  return { child, endpoint: (JSON.parse(line) as { readonly endpoint: string }).endpoint };
}

async function runProgram(...args: readonly string[]) {
  const child = spawn(process.execPath, ["--conditions=source", MAIN, ...args]);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, "close");
  return { code, said };
}

describe("the sandbox's file", () => {
  test("has every answered charge after SIGKILL, and the key that it came with", async () => {
    const file = temporaryFile();
    const { child, endpoint } = await startProgram(file);
    const stripe = plainStripe(endpoint);
    const created: string[] = [];
    for (const idempotencyKey of ["key-1", "key-2", "key-3"]) {
      created.push((await stripe.paymentIntents.create(parameters, { idempotencyKey })).id);
    }
    child.kill("SIGKILL");
    await once(child, "exit");

    expect(readCharges(file).map(({ paymentId }) => paymentId)).toEqual(created);
    const second = await startProgram(file);
    const replayed = await plainStripe(second.endpoint).paymentIntents.create(parameters, {
      idempotencyKey: "key-3",
    });

    expect(replayed.id).toBe(created[2]);
    expect(replayed.lastResponse.headers).toMatchObject({ "idempotent-replayed": "true" });
    expect(readCharges(file)).toHaveLength(3);
  });

  test("ends the program with code 0 at SIGTERM", async () => {
    const { child } = await startProgram(temporaryFile());

    child.kill("SIGTERM");

    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("tolerates a torn last line at every byte, and goes on after it", async () => {
    const { stripe, sandbox, file } = await startPaymentSite();
    await stripe.paymentIntents.create(parameters, { idempotencyKey: "key-1" });
    await sandbox.close();
    const whole = readFileSync(file, "utf8");
    const [head = "", line = ""] = whole.split("\n");

    for (const cut of [1, head.length, head.length + 2, head.length + line.length - 1]) {
      writeFileSync(file, whole);
      truncateSync(file, cut);
      expect(readCharges(file)).toEqual([]);
      const again = await startPaymentSandbox({ file });
      await plainStripe(again.endpoint).paymentIntents.create(parameters);
      await again.close();

      expect(readCharges(file)).toHaveLength(1);
    }
  });

  test("is not touched when it belongs to something else", async () => {
    const file = temporaryFile();
    writeFileSync(file, '{"format":"other"}\n');
    const message = expect.stringContaining(`${file} is not a file of this payment sandbox`);

    await expect(startPaymentSandbox({ file })).rejects.toMatchObject({ message });
    expect(() => readCharges(file)).toThrow("is not a file of this payment sandbox");
    expect(readFileSync(file, "utf8")).toBe('{"format":"other"}\n');
  });

  test("names the line when it is damaged before its last", async () => {
    const { sandbox, file } = await startPaymentSite();
    await sandbox.close();
    appendFileSync(file, "{}\n[]\n");

    await expect(startPaymentSandbox({ file })).rejects.toThrow(
      `line 2 of ${file} is not a list of changes: the file is damaged`,
    );
  });

  test("is for one sandbox at a time, in this process and in others, and free after a close", async () => {
    const file = temporaryFile();
    const first = await startPaymentSandbox({ file });
    await plainStripe(first.endpoint).paymentIntents.create(parameters);
    // As it looks while a line is being written: no other may take that for a torn one.
    appendFileSync(file, "[");
    const message = `${file} is in use by process ${process.pid}: stop it or name another file`;

    await expect(startPaymentSandbox({ file })).rejects.toMatchObject({
      message: expect.stringContaining(message),
    });
    expect(await runProgram("--file", file)).toEqual({
      code: 2,
      said: expect.stringContaining(message),
    });
    expect(readFileSync(file, "utf8").endsWith("\n[")).toBe(true);

    await first.close();
    const second = await startPaymentSandbox({ file });
    onTestFinished(() => second.close());
    expect(second.charges).toHaveLength(1);
  });

  test("is let go when it cannot be opened", async () => {
    const file = temporaryFile();
    writeFileSync(file, "hello\n");
    await expect(startPaymentSandbox({ file })).rejects.toThrow("is not a file of this");
    rmSync(file);
    const sandbox = await startPaymentSandbox({ file });
    await sandbox.close();
    expect(readdirSync(dirname(file))).toEqual([basename(file)]);
  });

  test("may be missing for a reader", () => {
    expect(readCharges(temporaryFile())).toEqual([]);
  });
});

describe("the sandbox as a program", () => {
  test.each([
    [[], "--file is missing"],
    [
      ["--file", "x", "--port", "65536"],
      "--port must be a whole number from 0 to 65535, got 65536",
    ],
    [["--file", "x", "--faults", "/gone.json"], "--faults /gone.json cannot be read as JSON"],
    [["--file", "x", "--colour"], "--colour"],
  ])("refuses %j", async (args, problem) => {
    const { code, said } = await runProgram(...args);

    expect([code, said]).toEqual([2, expect.stringContaining(problem)]);
    expect(existsSync("x")).toBe(false);
  });

  test("refuses a port that is taken and a file of another format", async () => {
    const { sandbox } = await startPaymentSite();
    const { port } = new URL(sandbox.endpoint);
    const file = temporaryFile();
    writeFileSync(file, "hello\n");

    expect(await runProgram("--file", temporaryFile(), "--port", port)).toEqual({
      code: 2,
      said: expect.stringContaining(`port ${port} on 127.0.0.1 is taken`),
    });
    expect(await runProgram("--file", file)).toEqual({
      code: 2,
      said: expect.stringContaining("is not a file of this payment sandbox"),
    });
  });
});
