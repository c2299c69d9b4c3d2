import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerStore, LedgerWrite } from "@leasehold/idempotency";
import { folderPayloadStore, type MessageCopy } from "@leasehold/job";
import { describe, expect, onTestFinished, test } from "vitest";
import { effect, identity, messageOf, startLedgerSite, TABLE } from "./ledger-site.ts";

/** The files of a folder as a bucket `jobs` under `kept/`, as far as S3 is asked to hand them out. */
async function bucketOver(folder: string) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "", "http://s3").pathname;
    asked.push(path);
    response.end(await readFile(join(folder, path.replace("/jobs/kept/", ""))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, asked };
}

/** A service as a file, of which only the contract matters. */
async function writeTarget(contract: Readonly<Record<string, unknown>>) {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-target-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const text = `const none = () => ({});
    export const target = { name: "mailer", command: ["/srv/mailer.js"], tables: [],
      contract: () => (${JSON.stringify(contract)}), environment: none, sampleJobs: none };`;
  await writeFile(join(folder, "target.mjs"), text);
  return join(folder, "target.mjs");
}

const INV_7 = ["--tenant", "acme", "--type", "payment.capture", "--job", "inv-7"];
const WORD = ["--by", "ann", "--reason", "found in the provider's books"];
const DONE = ["--effect", "charge", "--done", '{"id":"ch_0"}'];

describe("ledger show", () => {
  test("tells all of a parked job to a person", async () => {
    const { parkJob, run } = await startLedgerSite();
    await parkJob("inv-7");

    const { exitCode, text } = await run(["show", ...INV_7]);

    expect(exitCode).toBe(0);
    expect(text).toMatch(/^payment\.capture inv-7 of acme$/m);
    expect(text).toMatch(/state +parked: nobody knows whether its effect charge happened, since /);
    expect(text).toMatch(/opening +generation 1, epoch 2, owner w-2:/);
    expect(text).toMatch(/counts +failures 1, interruptions 0, put off 0, starts 2, recorded/);
    expect(text).toMatch(/checkpoint +none$/m);
    expect(text).toMatch(/kept +for ever$/m);
    expect(text).toMatch(/effect before: done \(ok\)/);
    expect(text).toMatch(
      /effect charge: unknown\n +attempts +1, the last in epoch 1\n +first send/,
    );
    expect(text).toMatch(/deadline +\S+Z \(59 min 47 s ago\)/);
    expect(text).toMatch(/provider key +[0-9a-f]{64}/);
    expect(text).not.toContain("amount");
  });

  test("tells it to a machine in one line, without the payload", async () => {
    const { parkJob, run } = await startLedgerSite();
    await parkJob("inv-7");

    const { text } = await run(["show", ...INV_7, "--json"]);

    expect(JSON.parse(text)).toMatchObject({
      event: "ledger.job",
      ...{ tenant_id: "acme", job_type: "payment.capture", job_id: "inv-7", state: "parked" },
      ...{ epoch: 2, failures: 1, starts: 2, checkpoint_bytes: 0, is_resend_pending: false },
      parked: { why: "outcome-unknown", effect: "charge", queue: "mails" },
      effects: {
        before: { state: "done", outcome: "ok", result: { kind: "inline", value: 1 } },
        charge: { state: "unknown", attempts: 1, provider_key: expect.stringMatching(/^\w{64}$/) },
      },
    });
    expect(text).not.toContain("amount");
  });

  test("tells the size of a checkpoint and how a refused effect ended", async () => {
    const { open, run } = await startLedgerSite();
    const opening = await open({ job: identity("inv-7"), checkpoints: true });
    if (opening.kind !== "open") throw new Error(opening.kind);
    await opening.checkpoint.save({ page: 12 });

    const { text } = await run(["show", ...INV_7]);

    expect(text).toMatch(/checkpoint +11 bytes/);
    expect(text).toMatch(/state +open$/m);
    expect(text).toMatch(/lease until \S+Z \(in 1 min 0 s\)/);
    expect(text).toContain("no effects");
  });

  test("says what to look at when there is no such job", async () => {
    const { run } = await startLedgerSite();

    expect((await run(["show", ...INV_7])).error).toMatchObject({
      code: "LEDGER_COMMAND",
      message: expect.stringContaining("the ledger has no payment.capture inv-7 of acme: look at"),
    });
  });
});

describe("ledger parked", () => {
  test("lists every tenant's, the oldest first, with why, since when and the provider key", async () => {
    const { parkJob, run } = await startLedgerSite();
    await parkJob("inv-7", "zeta");
    await parkJob("inv-8");
    await parkJob("inv-9", "zeta");

    const { exitCode, text } = await run(["parked"]);

    expect(exitCode).toBe(0);
    const names = text.split("\n").filter((line) => line.startsWith("payment.capture"));
    expect(names).toEqual([
      "payment.capture inv-7 of zeta",
      "payment.capture inv-8 of acme",
      "payment.capture inv-9 of zeta",
    ]);
    expect(text).toMatch(/since +\S+Z \(2 h ago\)\n +provider key +[0-9a-f]{64}/);
    expect(text).toContain("nobody knows whether its effect charge happened");
    expect(text).toContain("parked jobs: 3");
  });

  test("lists one tenant's, no more than asked for", async () => {
    const { parkJob, run } = await startLedgerSite();
    for (const job of ["inv-7", "inv-8"]) await parkJob(job);
    await parkJob("inv-9", "zeta");

    const some = JSON.parse(
      (await run(["parked", "--tenant", "acme", "--limit", "1", "--json"])).text,
    );
    expect(some).toMatchObject({ count: 2, is_whole: true, jobs: [{ job_id: "inv-7" }] });
    expect(some.jobs).toHaveLength(1);
    expect((await run(["parked", "--tenant", "acme", "--limit", "1"])).text).toContain(
      "parked jobs: 2, the oldest 1 shown",
    );
    expect((await run(["parked", "--tenant", "none"])).text).toBe("no job is parked\n");
  });
});

describe("ledger resolve", () => {
  test("keeps a done effect with who says so and why, and the rest of the job runs", async () => {
    const { parkJob, openAgain, received, run, store } = await startLedgerSite();
    const job = await parkJob("inv-7");

    const { exitCode, text } = await run(["resolve", ...INV_7, ...DONE, ...WORD]);

    expect(exitCode).toBe(0);
    expect(text).toContain("done, kept as the word of ann; its message is sent again");
    const [message, ...others] = await received();
    expect(others).toEqual([]);
    expect(message?.Body).toBe(messageOf(job).body);
    expect(message?.MessageAttributes).toMatchObject({
      job_id: { StringValue: "inv-7" },
      bytes: { DataType: "Binary", BinaryValue: new Uint8Array([0, 255]) },
    });
    expect(message?.Attributes).toMatchObject({ MessageGroupId: "acme" });
    const opened = await openAgain(job);
    expect(await opened.once("charge", 7, effect(never))).toEqual({ id: "ch_0" });
    expect(
      await opened.once(
        "receipt",
        7,
        effect(() => "sent"),
      ),
    ).toBe("sent");
    expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    expect(await store.read(job)).toMatchObject({
      state: "done",
      resolution: { verdict: "done", by: "ann", reason: "found in the provider's books" },
    });
    expect((await run(["show", ...INV_7])).text).toMatch(
      /resolved +done by ann, \S+ \(0 ms ago\): found in the provider's books/,
    );
    expect((await run(["parked"])).text).toBe("no job is parked\n");
  });

  test("has an effect that did not happen done anew, under its key", async () => {
    const { parkJob, openAgain, run, store } = await startLedgerSite();
    const job = await parkJob("inv-7");
    const before = (await store.read(job))?.effects["charge"]?.providerKey;

    await run(["resolve", ...INV_7, "--effect", "charge", "--not-done", ...WORD]);

    const keys: string[] = [];
    const charge = { ...effect(never), run: async ({ key }: { key: string }) => keys.push(key) };
    await (await openAgain(job)).once("charge", 7, charge);
    expect(keys).toEqual([before]);
  });

  test("names the user of this machine when nobody is named", async () => {
    const { parkJob, run, store, send } = await startLedgerSite();
    const job = await parkJob("inv-7");
    const desk = { store, send, user: () => "root" };

    await run(["resolve", ...INV_7, ...DONE, "--reason", "seen"], { desk });

    expect((await store.read(job))?.resolution).toMatchObject({ by: "root", reason: "seen" });
  });

  const steps = [
    "before the mark",
    "after the mark",
    "before the send",
    "after the send",
    "after the clearing",
  ];

  test.each(steps)("killed %s it is run again and goes on where it was", async (killedAt) => {
    const { parkJob, openAgain, received, run, store, send } = await startLedgerSite();
    const job = await parkJob("inv-7");
    const desk = { ...mortal(store, send, killedAt), user: () => "ann" };
    const line = ["resolve", ...INV_7, ...DONE, ...WORD];

    const { error } = await run(line, { desk });

    expect(error?.message).toBe(`killed ${killedAt}`);
    const isOver = killedAt === "after the clearing";
    const listed = (await run(["parked"])).text;
    expect(listed.includes("inv-7")).toBe(!isOver);
    const isMarked = killedAt !== "before the mark" && !isOver;
    expect(listed.includes("not sent again yet: run the same resolve again")).toBe(isMarked);
    const again = await run(line);
    expect(again.exitCode).toBe(isOver ? undefined : 0);
    if (isOver) expect(again.error?.message).toContain("is resolved already");
    expect(await received()).toHaveLength(killedAt === "after the send" ? 2 : 1);
    expect((await run(["parked"])).text).toBe("no job is parked\n");
    const opened = await openAgain(job);
    expect(await opened.once("charge", 7, effect(never))).toEqual({ id: "ch_0" });
    expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    expect((await store.read(job))?.state).toBe("done");
  });

  test("finds a message that was too big for its record in the folder or bucket of its worker", async () => {
    const folder = await mkdtemp(join(tmpdir(), "leasehold-messages-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { parkJob, received, run } = await startLedgerSite({
      results: folderPayloadStore(folder),
    });
    await parkJob("inv-7");
    await parkJob("inv-8");
    const line = ["resolve", ...INV_7, ...DONE, ...WORD];

    expect((await run(line)).error?.message).toMatch(
      /the message of .*inv-7.* is not found at ledger\/[0-9a-f]{64}: give the store that its worker has/,
    );
    expect((await run([...line, "--store-folder", join(folder, "none")])).error?.message).toBe(
      `there is no folder ${join(folder, "none")}: give the worker's own`,
    );
    expect(await run([...line, "--store-folder", folder])).toMatchObject({ exitCode: 0 });
    expect(await received()).toMatchObject([{ Body: messageOf(identity("inv-7")).body }]);

    const { endpoint, asked } = await bucketOver(folder);
    const other = line.map((word) => (word === "inv-7" ? "inv-8" : word));
    const inBucket = [...other, "--store-bucket", "jobs", "--store-prefix", "kept/"];
    const environment = { AWS_ENDPOINT_URL_S3: endpoint };
    expect(await run(inBucket, { environment })).toMatchObject({ exitCode: 0 });
    expect(asked[0]).toMatch(/^\/jobs\/kept\/ledger\/[0-9a-f]{64}$/);
    expect(await received()).toMatchObject([{ Body: messageOf(identity("inv-8")).body }]);
  });

  test("says that the word is kept when the queue is not there, and goes on once it is", async () => {
    const { parkJob, received, run } = await startLedgerSite();
    const other = await startLedgerSite();
    await parkJob("inv-7");
    const line = ["resolve", ...INV_7, ...DONE, ...WORD];

    const gone = await run([...line, "--sqs-endpoint", other.aws.dynamodbEndpoint]);

    expect(gone.error).toMatchObject({ code: "LEDGER_COMMAND" });
    expect(gone.error?.message).toContain(
      "the word is kept, but the job's message is not sent yet",
    );
    expect(gone.error?.message).toContain("run the same command again");
    expect(await run(line)).toMatchObject({ exitCode: 0 });
    expect(await received()).toHaveLength(1);
  });

  test.each([
    [DONE, "inv-8", "has no record"],
    [
      ["--effect", "before", "--not-done"],
      "inv-7",
      "waits for its effect charge: before was named",
    ],
    [["--not-done"], "inv-7", "waits for its effect charge: none was named"],
  ])("refuses %j for %s", async (verdict, jobId, message) => {
    const { parkJob, received, run, store } = await startLedgerSite();
    const job = await parkJob("inv-7");
    const which = ["--tenant", "acme", "--type", "payment.capture", "--job", jobId];

    const { error } = await run(["resolve", ...which, ...verdict, ...WORD]);

    expect(error).toMatchObject({ code: "RESOLVE_REFUSED" });
    expect(error?.message).toContain(message);
    expect(await received()).toEqual([]);
    expect((await store.read(job))?.state).toBe("parked");
  });

  test("refuses a job that is not parked any more, and one that two resolve at once", async () => {
    const { parkJob, run, store, send } = await startLedgerSite();
    await parkJob("inv-7");
    const line = ["resolve", ...INV_7, ...DONE, ...WORD];
    const slow: LedgerStore = {
      read: async (job) => {
        const seen = await store.read(job);
        await run(line); // Another operator is faster.
        return seen;
      },
      write: (write) => store.write(write),
      listParked: (query) => store.listParked(query),
    };

    const beaten = await run(["resolve", ...INV_7, "--effect", "charge", "--not-done", ...WORD], {
      desk: { store: slow, send, user: () => "bob" },
    });

    expect(beaten.error?.message).toContain("has changed meanwhile: look at it again");
    expect((await run(line)).error?.message).toContain("is resolved already");
    const other = await run(["resolve", ...INV_7, "--effect", "charge", "--not-done", ...WORD]);
    expect(other.error?.message).toContain("is not parked, it is open");
  });
});

describe("ledger cancel", () => {
  test("keeps a job from ever starting again, and says what may have happened", async () => {
    const { parkJob, open, run, store } = await startLedgerSite();
    const job = await parkJob("inv-7");

    const { exitCode, text } = await run(["cancel", ...INV_7, ...WORD]);

    expect(exitCode).toBe(0);
    expect(text).toContain("cancelled, kept as the word of ann");
    expect(text).toContain("may have happened all the same: charge; look at the provider");
    expect(await open({ job, messageId: "m-2", guard: true })).toEqual({ kind: "cancelled" });
    expect((await store.read(job))?.reason).toEqual({
      code: "cancelled",
      detail: "ann: found in the provider's books",
    });
  });

  test("says when the job was not in the ledger yet", async () => {
    const { run, store, clock } = await startLedgerSite();

    const { text } = await run(["cancel", ...INV_7, ...WORD, "--keep-days", "90", "--json"]);

    expect(JSON.parse(text)).toEqual({
      event: "ledger.cancelled",
      ...{ tenant_id: "acme", job_type: "payment.capture", job_id: "inv-7" },
      ...{ by: "ann", was_known: false, open_effects: [] },
    });
    const { expiresAtMs = 0 } = (await store.read(identity("inv-7"))) ?? {};
    expect(expiresAtMs).toBe(Math.ceil(clock.wallMs() / 1_000 + 90 * 86_400) * 1_000);
  });

  test("keeps the record for as long as the contract of its service says, in the table of that", async () => {
    const { run, store, clock } = await startLedgerSite();
    const days90 = 90 * 86_400_000;
    const ledger = { kind: "dynamodb", tableName: TABLE, doneRetentionMs: days90 };
    const target = await writeTarget({ ledger });

    expect(await run(["cancel", ...INV_7, ...WORD, "--target", target])).toMatchObject({
      exitCode: 0,
    });

    const { expiresAtMs = 0 } = (await store.read(identity("inv-7"))) ?? {};
    expect(expiresAtMs).toBe(Math.ceil(clock.wallMs() / 1_000 + 90 * 86_400) * 1_000);
  });

  test("refuses a service without a ledger, and two words about the keeping", async () => {
    const { run, store } = await startLedgerSite();
    const target = await writeTarget({ ledger: { kind: "none" } });
    const line = ["cancel", ...INV_7, ...WORD, "--target", target];

    expect((await run(line)).error?.message).toBe(
      "mailer has no ledger in DynamoDB, its contract's ledger.kind is none: name another --target",
    );
    expect((await run([...line, "--keep-days", "90"])).error?.message).toContain(
      "'--target <file>' cannot be used with option '--keep-days <n>'",
    );
    expect(await store.read(identity("inv-7"))).toBeUndefined();
  });

  test("fails for a job that is done", async () => {
    const { open, run } = await startLedgerSite();
    const opening = await open({ job: identity("inv-7") });
    if (opening.kind !== "open") throw new Error(opening.kind);
    await opening.once("charge", 7, { ...effect(() => 1), last: true });

    expect((await run(["cancel", ...INV_7, ...WORD])).error?.message).toBe(
      "payment.capture inv-7 of acme is done: there is nothing to cancel",
    );
  });
});

describe("the place of the ledger", () => {
  test("is refused when it has no such table, and when nobody answers there", async () => {
    const { run, aws } = await startLedgerSite();

    const absent = await run(["show", ...INV_7, "--table", "other"], { environment: {} });
    expect(absent.error?.message).toBe(
      `at ${aws.dynamodbEndpoint} there is no table other, or it has no index of parked jobs: give ` +
        "--table, and --region or --dynamodb-endpoint for where it is",
    );
    const silent = await run(["show", ...INV_7, "--dynamodb-endpoint", "http://127.0.0.1:9"]);
    expect(silent.error?.message).toContain(
      `at http://127.0.0.1:9 table ${TABLE} could not be reached (`,
    );
    expect(silent.error?.message).toContain("check endpoint, region and credentials");
  });

  test.each([
    [{ AWS_REGION: "" }, [], "no region is known: give --region or set AWS_REGION"],
    [{}, ["--dynamodb-endpoint", "here"], "--dynamodb-endpoint must be an address like http"],
    [{ AWS_ENDPOINT_URL_SQS: "x:1" }, [], "AWS_ENDPOINT_URL_SQS must be an address like http"],
    [{}, ["--table", ""], "no table is named: give --table or set LEASEHOLD_LEDGER_TABLE"],
  ])("with %j and %j says what to give instead", async (environment, flags, message) => {
    const { run } = await startLedgerSite();

    const { error } = await run(["parked", ...flags], { environment });

    expect(error).toMatchObject({ code: "COMMAND_MISUSED" });
    expect(error?.message).toContain(message);
  });
});

function never(): never {
  throw new Error("it must not run again");
}

/** Store and queue of a command that is killed at one of its steps. */
function mortal(
  store: LedgerStore,
  send: (message: MessageCopy) => Promise<void>,
  killedAt: string,
) {
  const step = (name: string) => {
    if (name === killedAt) throw new Error(`killed ${name}`);
  };
  return {
    store: {
      read: (job) => store.read(job),
      listParked: (query) => store.listParked(query),
      write: async (write: LedgerWrite) => {
        if (write.name === "resolve") step("before the mark");
        const answer = await store.write(write);
        step(write.name === "resolve" ? "after the mark" : "after the clearing");
        return answer;
      },
    } satisfies LedgerStore,
    send: async (message: MessageCopy) => {
      step("before the send");
      await send(message);
      step("after the send");
    },
  };
}
