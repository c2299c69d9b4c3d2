import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CliProcess } from "./cli-process.ts";

const target = join(import.meta.dirname, "parrot/parrot-target.ts");

async function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-test-"));
  const cli = new CliProcess(["local", "--target", target, "--data", folder, ...args], environment);
  onTestFinished(async () => {
    cli.child.kill("SIGKILL");
    await cli.ended();
    await rm(folder, { recursive: true, force: true });
  });
  return { cli, folder };
}

/** The process of the worker, from the lock's neighbour: the command's only child. */
async function workerPid(cli: CliProcess): Promise<number> {
  const line = await cli.line('"event":"worker.ready"');
  return (JSON.parse(line) as { readonly pid: number }).pid;
}

describe("a local session", () => {
  test("ends by itself when all jobs are done, with a summary as its last line", async () => {
    const { cli } = await start(["--jobs", "12", "--exit-when-idle", "--json"]);

    const { exitCode, lines, errors } = await cli.ended();

    expect(errors).toEqual([]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({
      event: "run.summary",
      sent: 12,
      acked: 12,
      released: 0,
      dead_lettered: 0,
      leases_lost: 0,
      extended: 12,
      receipts: 12,
      exit_code: 0,
    });
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  test("tells people where to look, how it went and the report as text", async () => {
    const { cli, folder } = await start(["--jobs", "2", "--exit-when-idle"]);

    const { lines } = await cli.ended();

    const text = lines.join("\n");
    expect(lines[0]).toBe("parrot on this machine, preset drill");
    expect(text).toContain(`receipts  ${folder}/receipts`);
    expect(text).toMatch(/cage +http:\/\/127\.0\.0\.1:9/);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(["cage-closed", "cage-seen"]));
    expect(text).toContain("jobs sent 2  running 0  done 2  leases extended 2  PDFs 2");
    expect(text).toContain("exit code  0: said by the parrot");
    expect(text).not.toContain('{"');
  });

  test("has the exit code of its worker, and says when it ended by itself", async () => {
    const { cli } = await start(["--json"], { PARROT_DIES: "1", PARROT_EXIT_CODE: "78" });

    const { exitCode, lines, errors } = await cli.ended();

    expect(exitCode).toBe(78);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ sent: 0, exit_code: 78 });
    expect(errors).toEqual([
      "the parrot is no more",
      "the worker ended by itself with exit code 78: see the lines above",
    ]);
  });

  test("passes on a Ctrl-C once, although a terminal and npm both deliver it", async () => {
    const environment = { PARROT_SIGNALS: "2", PARROT_EXIT_CODE: "75" };
    const { cli } = await start(["--json"], environment);
    await cli.line('"event":"worker.ready"');

    cli.pressCtrlC();
    cli.child.kill("SIGINT");
    await cli.line('"event":"parrot.heard"');
    cli.child.kill("SIGTERM");
    // The parrot ends at its second signal: had an echo come through, it would have ended by now.
    await waitMs(1_300);
    expect(cli.lines.filter((line) => line.includes("drain.started"))).toEqual([]);
    cli.child.kill("SIGTERM");

    const { exitCode, lines } = await cli.ended();
    expect(exitCode).toBe(75);
    expect(lines.join("\n")).toContain('"signal":"SIGINT+SIGTERM"');
  });

  test("goes on with what a stopped session left in its folder", async () => {
    const { cli, folder } = await start(["--jobs", "3", "--json"], { PARROT_DEAF: "1" });
    await cli.line('"event":"worker.ready"');
    await cli.line('"event":"parrot.polled-nothing"');
    cli.child.kill("SIGTERM");
    expect((await cli.ended()).exitCode).toBe(0);

    const next = new CliProcess([
      ...["local", "--target", target, "--data", folder],
      ...["--jobs", "0", "--exit-when-idle", "--json"],
    ]);
    const { exitCode, lines } = await next.ended();

    expect(exitCode).toBe(0);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ sent: 0, acked: 3, receipts: 3 });
  });

  test("is refused while another one has the folder, which goes on undisturbed", async () => {
    const { cli, folder } = await start(["--json"]);
    await cli.line('"event":"worker.ready"');

    const second = new CliProcess(["local", "--target", target, "--data", folder]);
    const { exitCode, errors } = await second.ended();

    expect(exitCode).toBe(1);
    expect(errors).toEqual([
      `leasehold: ${folder} is in use (process ${cli.child.pid}): stop that process or choose ` +
        `another folder; if there is none, remove ${folder}/in-use.lock`,
    ]);
    cli.child.kill("SIGTERM");
    expect((await cli.ended()).exitCode).toBe(0);
  });

  test("says in one line that a file is no folder", async () => {
    const { folder } = await start(["--jobs", "0", "--exit-when-idle", "--json"]);
    const file = join(folder, "notes.txt");
    await writeFile(file, "");

    const cli = new CliProcess(["local", "--target", target, "--data", file]);
    const { exitCode, errors } = await cli.ended();

    expect(exitCode).toBe(1);
    expect(errors).toEqual([`leasehold: ENOTDIR: not a directory, mkdir '${file}/receipts'`]);
  });

  test("refuses a folder whose queues have other numbers, and says how to mend it", async () => {
    const { cli, folder } = await start(["--jobs", "1", "--exit-when-idle", "--json"]);
    await cli.ended();

    const second = new CliProcess([
      ...["local", "--target", target, "--data", folder],
      ...["--preset", "default-30", "--jobs", "1", "--exit-when-idle"],
    ]);
    const { exitCode, errors } = await second.ended();

    expect(exitCode).toBe(78);
    expect(errors.join("\n")).toContain(
      "queue parrot-jobs: VisibilityTimeout is 10, the contract says 60",
    );
  });

  test("leaves no worker behind when the command itself is killed", async () => {
    const { cli } = await start(["--json"]);
    const pid = await workerPid(cli);

    cli.child.kill("SIGKILL");
    await cli.ended();

    await untilGone(pid);
  });
});

describe("stand-alone AWS", () => {
  test("serves a session that looks for AWS at an endpoint", async () => {
    const aws = new CliProcess(["aws", "--sqs-port", "0", "--dynamodb-port", "0", "--json"]);
    onTestFinished(() => void aws.child.kill("SIGKILL"));
    const { environment } = JSON.parse(await aws.line("aws.ready"));

    const { cli } = await start(
      ["--aws", "endpoint", "--jobs", "2", "--exit-when-idle", "--json"],
      environment,
    );
    const { exitCode, lines } = await cli.ended();

    expect(exitCode).toBe(0);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      aws: "endpoint",
      sqs_endpoint: environment.AWS_ENDPOINT_URL_SQS,
    });
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ sent: 2, acked: 2, exit_code: 0 });
  });

  test("prints what other programs need, and ends cleanly at a signal", async () => {
    const cli = new CliProcess(["aws", "--sqs-port", "0", "--dynamodb-port", "0", "--json"]);
    onTestFinished(() => void cli.child.kill("SIGKILL"));

    const { environment } = JSON.parse(await cli.line("aws.ready"));
    const answer = await fetch(environment.AWS_ENDPOINT_URL_DYNAMODB);
    expect(await answer.text()).toContain("healthy");
    expect(environment).toMatchObject({ AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test" });
    cli.child.kill("SIGTERM");

    expect(await cli.ended()).toMatchObject({ exitCode: 0, errors: [] });
  });
});

describe("faults by command", () => {
  test("meet other programs at the endpoints that are printed", async () => {
    const cli = new CliProcess([
      ...["aws", "--sqs-port", "0", "--dynamodb-port", "0", "--json"],
      ...["--faults", "ListQueues:server-error,ListTables:throttle", "--seed", "7"],
    ]);
    onTestFinished(() => void cli.child.kill("SIGKILL"));
    const ready = JSON.parse(await cli.line("aws.ready"));
    expect(ready).toMatchObject({ faults: 2, seed: 7 });
    const ask = async (endpoint: string, target: string, body: object) => {
      const headers = { "x-amz-target": target, "content-type": "application/x-amz-json-1.0" };
      const request = { method: "POST", headers, body: JSON.stringify(body) };
      const answer = await fetch(endpoint, request);
      return [answer.status, await answer.json()];
    };
    const { AWS_ENDPOINT_URL_SQS: sqs, AWS_ENDPOINT_URL_DYNAMODB: dynamodb } = ready.environment;

    const [status, error] = await ask(sqs, "AmazonSQS.ListQueues", {});
    expect([status, error]).toMatchObject([500, { __type: expect.stringMatching(/#Internal/) }]);
    expect(await ask(dynamodb, "DynamoDB_20120810.ListTables", {})).toMatchObject([
      400,
      { __type: expect.stringMatching(/#ThrottlingException$/) },
    ]);
    // The address that a new queue is told to have is the proxy's, too.
    expect(await ask(sqs, "AmazonSQS.CreateQueue", { QueueName: "a" })).toEqual([
      200,
      { QueueUrl: `${sqs}/000000000000/a` },
    ]);
    cli.child.kill("SIGTERM");
    expect(await cli.ended()).toMatchObject({ exitCode: 0, errors: [] });
  });

  test("meet the worker of a session, and not what the session itself does", async () => {
    const { cli } = await start([
      ...["--jobs", "2", "--exit-when-idle", "--json", "--seed", "3"],
      ...["--faults", "GetQueueUrl:server-error,CreateQueue:hung,SendMessageBatch:hung"],
    ]);

    const { exitCode, lines, errors } = await cli.ended();

    expect(exitCode).toBe(1);
    expect(errors.join("\n")).toContain("InternalFailure");
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ event: "run.summary", acked: 0 });
  });
});

describe("misuse of the command", () => {
  test("says in one line that there are no credentials for an endpoint", async () => {
    const cli = new CliProcess(["local", "--target", target, "--aws", "endpoint"], {
      ...{ AWS_ENDPOINT_URL: "http://127.0.0.1:9", AWS_REGION: "us-east-1" },
      ...{ AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_PROFILE: "" },
      ...{ AWS_EC2_METADATA_DISABLED: "true", AWS_SHARED_CREDENTIALS_FILE: "/nowhere" },
      ...{ AWS_CONFIG_FILE: "/nowhere" },
    });

    const { exitCode, errors } = await cli.ended();

    expect(exitCode).toBe(2);
    expect(errors).toEqual(["leasehold: Could not load credentials from any providers"]);
  });

  test.each([
    [["local"], "required option '--target <file>' not specified"],
    [["local", "--target", "nowhere.ts"], "nowhere.ts is no target of the local command"],
    [["local", "--target", target, "--aws", "endpoint"], "AWS_ENDPOINT_URL is not set"],
    [["aws", "--faults", "Recieve:throttle"], "neither SQS nor DynamoDB has an action 'Recieve'"],
    [["lokal"], "unknown command 'lokal'"],
  ])("%j ends with exit code 2 and says what to do", async (args, message) => {
    const cli = new CliProcess(args, { AWS_ENDPOINT_URL: "", AWS_REGION: "" });

    const { exitCode, errors } = await cli.ended();

    expect(exitCode).toBe(2);
    expect(errors.join("\n")).toContain(message);
  });
});

function waitMs(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return; // Gone.
    }
    await waitMs(20);
  }
}
