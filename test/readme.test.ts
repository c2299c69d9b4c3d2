/** Every TypeScript example of the README compiles against the packages as they are, and runs. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "@leasehold/clock";
import { defineContract } from "@leasehold/deployment-contract";
import { createLedger, MemoryLedgerStore } from "@leasehold/idempotency";
import { readMessage } from "@leasehold/job";
import { type LocalAws, provision, startLocalAws } from "@leasehold/local-aws";
import { lambdaHandler, type SqsLambdaHandler } from "@leasehold/middy";
import { createProducer } from "@leasehold/producer";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { LambdaPoller } from "./support/lambda-poller.ts";

const root = join(import.meta.dirname, "..");
/** Within the tree, so that packages are found by their names. */
const folder = join(import.meta.dirname, ".readme");
const readme = readFileSync(join(root, "README.md"), "utf8");
const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((found) => found[1] ?? "");

/** The example that has these words, as the file that it was written to. */
function exampleWith(words: string): string {
  const found = examples.filter((example) => example.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} examples have ${words}`);
  return join(folder, `example-${examples.indexOf(found[0] ?? "")}.ts`);
}

describe("the README", () => {
  let aws: LocalAws;
  let queueUrl: string;

  beforeAll(async () => {
    aws = await startLocalAws({ mode: "embedded", clock: systemClock });
    const contract = defineContract({
      ...{ preset: "default-30", service: "mail", ledger: { kind: "none" } },
      queues: [{ name: "mail-jobs", deadLetter: { name: "mail-jobs-dead" } }],
    });
    const { queueUrls } = await provision({ contract, clients: aws });
    queueUrl = queueUrls["mail-jobs"] ?? "";
    mkdirSync(folder, { recursive: true });
    for (const [index, example] of examples.entries()) {
      // An example shows the queue of an account that is nobody's, and a port that may be taken.
      const here = example
        .replace(/https:\/\/sqs\.[\w./-]+\/mail-jobs/, queueUrl)
        .replace(/^ {2}jobs: \[greet\],\n {2}sqs/m, "  admin: { port: 0 },\n$&");
      writeFileSync(join(folder, `example-${index}.ts`), `${here}\nexport {};\n`);
    }
  });

  afterAll(async () => {
    await aws.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A program on this AWS. */
  function start(args: readonly string[]): ChildProcess {
    const environment = Object.entries({ ...process.env, ...aws.environment });
    return spawn(process.execPath, ["--conditions=source", ...args], {
      cwd: root,
      env: Object.fromEntries(environment.filter(([, value]) => value !== undefined)),
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  function counts() {
    const { visible, inFlight } = aws.embedded?.account.report().queues["mail-jobs"] ?? {};
    return { visible, inFlight };
  }

  test("shows TypeScript that compiles under the strict rules of this house", () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
    const options = { composite: false, noEmit: true, declaration: false, declarationMap: false };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: "../../tsconfig.base.json",
        compilerOptions: {
          ...options,
          isolatedDeclarations: false,
          rewriteRelativeImportExtensions: false,
          allowImportingTsExtensions: true,
        },
        include: ["*.ts"],
      }),
    );
    const tsc = join(root, "node_modules/.bin/tsc");
    const { stdout, status } = spawnSync(tsc, ["-p", folder], { encoding: "utf8" });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  test("shows a producer that sends its job and leaves nothing that keeps its process", async () => {
    const producer = start([exampleWith("createProducer")]);
    expect(await once(producer, "exit")).toEqual([0, null]);
    expect(counts()).toEqual({ visible: 1, inFlight: 0 });
  });

  test("shows a worker that works the job and drains", async () => {
    const worker = start([exampleWith("runWorkerProcess")]);
    const exited = once(worker, "exit");
    const lines = createInterface({ input: worker.stdout as NodeJS.ReadableStream });
    for await (const line of lines) {
      if (JSON.parse(line).msg === "a job succeeded") worker.kill("SIGTERM");
    }
    expect(await exited).toEqual([0, null]);
    expect(counts()).toEqual({ visible: 0, inFlight: 0 });
    // Its drain waits for a poll that is open.
  }, 60_000);

  test("shows a function in Lambda that works the same job", async () => {
    const producer = start([exampleWith("createProducer")]);
    await once(producer, "exit");
    for (const [name, value] of Object.entries(aws.environment)) vi.stubEnv(name, value);
    const { handler } = await import(exampleWith("export const handler"));
    expect(await invoke(handler)).toMatchObject({ kind: "answered", failures: [] });
    vi.unstubAllEnvs();
  });

  test("shows readers that know a message of each of their sources", async () => {
    const { readers } = await import(exampleWith("fromEventBridge"));
    const read = (content: object) => {
      const body = JSON.stringify(content);
      const reading = readMessage({ messageId: "m-1", body, attributes: {}, sentAtMs: 0 }, readers);
      return reading.kind === "job" ? [reading.job.tenantId, reading.job.jobType] : reading;
    };
    const s3 = { bucket: { name: "uploads" }, object: { key: "acme/photo.jpg" } };
    const upload = { Records: [{ eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 }] };
    const event = { id: "e-1", source: "com.example.plans", "detail-type": "plan", account: "1" };
    expect([
      read(upload),
      read({ Type: "Notification", Message: JSON.stringify(upload) }),
      read({ ...event, detail: {} }),
      read({ shop: "acme", orderId: "o-1" }),
    ]).toEqual([
      ["acme", "upload.scan"],
      ["acme", "upload.scan"],
      ["1", "plan.changed"],
      ["acme", "order.placed"],
    ]);
  });

  test("shows a middy-wrapped handler that happens once", async () => {
    const { sendLetter } = await import(exampleWith("middyHandler"));
    const producer = createProducer({ client: aws.sqs, queueUrl, clock: systemClock });
    const payload = { to: "Ada", text: "Dear Ada" };
    const letter = { tenantId: "acme", jobId: "letter-1", payload };
    for (const _ of [1, 2]) await producer.send(sendLetter, letter);
    const store = new MemoryLedgerStore();
    const openLedger = ({ requestId: workerId }: { readonly requestId: string }) =>
      createLedger({ store, clock: systemClock, environment: "test", workerId });
    const outcomes: string[] = [];
    const handler = lambdaHandler([sendLetter], {
      openLedger,
      options: { concurrency: 1 },
      onEvent: (event) => {
        if (event.kind === "job.ended") outcomes.push(event.outcome);
      },
    });
    expect(await invoke(handler)).toMatchObject({ kind: "answered", failures: [] });
    expect(outcomes.sort()).toEqual(["stopped", "succeeded"]);
  });

  async function invoke(handler: SqsLambdaHandler) {
    const { account } = aws.embedded as NonNullable<LocalAws["embedded"]>;
    const queue = { account, queueUrl, name: "mail-jobs" };
    const poller = new LambdaPoller({ clock: systemClock, queue });
    return await poller.invoke(handler, await poller.take());
  }

  test("names only scripts that package.json has", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const named = [...readme.matchAll(/npm (?:run )?([a-z-]+)/g)].map((found) => found[1] ?? "");
    const scripts = named.filter((name) => name !== "is");
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });
});
