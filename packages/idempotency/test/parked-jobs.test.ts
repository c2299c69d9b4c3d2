import type { MessageCopy } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { cancelJob, ParkedJobs, type ResultStore } from "../index.ts";
import { effectOf, job, message, setup, TestLease, thrownBy } from "./ledger-setup.ts";

const HOUR = 3_600_000;
const ann = { by: "ann", effect: "charge" };
const bob = { by: "bob", effect: "charge" };
const ok = () => ({ id: "ch_1" });

class FolderOfTexts implements ResultStore {
  readonly texts = new Map<string, string>();
  async put(name: string, text: string) {
    this.texts.set(name, text);
  }
  async get(name: string) {
    return this.texts.get(name);
  }
}

/** A job that is parked because nobody knows whether its charge happened. */
async function parked(args: Parameters<typeof setup>[0] = {}, copyMessage = () => message) {
  const world = setup(args);
  const surroundings = { ...world.requestOf(new TestLease()).surroundings, copyMessage } as never;
  const failing = effectOf(() => {
    throw new Error("socket hang up");
  });
  const first = await world.open();
  await first.job.once("before", 7, effectOf(ok));
  await thrownBy(first.job.once("charge", 7, failing));
  await first.job.end({ kind: "failed" });
  await world.clock.advance(HOUR);
  const second = await world.open({ receiveCount: 2, surroundings });
  await thrownBy(second.job.once("charge", 7, failing));
  const sent: MessageCopy[] = [];
  let killedAt = "";
  const step = (name: string) => {
    if (killedAt === name) throw new Error(`killed at ${name}`);
  };
  const jobs = new ParkedJobs({
    store: {
      write: async (write) => {
        step(write.name);
        return await world.store.write(write);
      },
      read: (one) => world.store.read(one),
      listParked: (query) => world.store.listParked(query),
    },
    clock: world.clock,
    ...(args.results !== undefined && { results: args.results }),
    send: async (copy) => {
      step("before send");
      sent.push(copy);
      step("after send");
    },
  });
  const kill = (at: string) => {
    killedAt = at;
  };
  const record = () => world.store.inner.read(job);
  const resent = (messageId = "m-9") =>
    world.open({ messageId, guard: true }, new TestLease(), world.ledgerOf("w-9"));
  return { ...world, failing, second, jobs, sent, kill, record, resent };
}

describe("a parked job", () => {
  test("is found by its tenant, and acked for every delivery of it", async () => {
    const { jobs, open } = await parked();
    const { records } = await jobs.list({ tenantId: "acme", limit: 10 });
    expect(records).toMatchObject([{ jobId: "invoice-7", parked: { effect: "charge" } }]);
    expect(await jobs.list({ tenantId: "other", limit: 10 })).toEqual({ records: [] });
    expect((await open({ messageId: "m-2", guard: true })).opening).toEqual({ kind: "parked" });
  });

  test("resolved as done is sent again as it came, and the rest of it runs", async () => {
    const { jobs, sent, record, resent } = await parked();
    const done = { kind: "done", result: { id: "ch_0" } } as const;
    expect(await jobs.resolve(job, done, ann)).toEqual({ kind: "sent-again" });
    expect(sent).toEqual([message]);
    expect(await record()).toMatchObject({ resolution: { verdict: "done", by: "ann" } });
    expect((await record())?.parked).toBeUndefined();
    expect((await jobs.list({ limit: 10 })).records).toEqual([]);

    const { job: opened } = await resent();
    const again = effectOf(ok);
    expect(await opened.once("charge", 7, again)).toEqual({ id: "ch_0" });
    await opened.once("after", 7, effectOf(ok, { last: true }));
    expect(again.calls).toEqual([]);
    expect(await record()).toMatchObject({ state: "done" });
  });

  test("resolved as not done does it anew under its key", async () => {
    const { jobs, failing, resent, record } = await parked();
    await jobs.resolve(job, { kind: "not-done" }, ann);
    expect((await record())?.effects["charge"]).toMatchObject({ state: "released" });
    const again = effectOf(ok);
    await (await resent()).job.once("charge", 7, again);
    expect(again.calls).toEqual(failing.calls);
  });

  test.each(["resolve", "before send", "after send", "clear-resend"])(
    "can be resolved again when the command was killed: %s",
    async (at) => {
      const { jobs, sent, kill, record, resent } = await parked();
      const verdict = { kind: "done", result: { id: "ch_0" } } as const;
      kill(at);
      await expect(jobs.resolve(job, verdict, ann)).rejects.toThrow(`killed at ${at}`);
      expect((await jobs.list({ limit: 10 })).records).toHaveLength(1);
      kill("");
      expect(await jobs.resolve(job, verdict, ann)).toEqual({ kind: "sent-again" });
      expect(sent).toHaveLength(at === "after send" || at === "clear-resend" ? 2 : 1);
      expect((await jobs.list({ limit: 10 })).records).toEqual([]);
      const { job: opened } = await resent();
      await opened.once("charge", 7, effectOf(ok));
      expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
      expect(await record()).toMatchObject({ state: "done" });
    },
  );

  test("keeps its new parking when it parks again before the mark was cleared", async () => {
    const { jobs, kill, record, resent, failing, clock } = await parked();
    kill("clear-resend");
    await thrownBy(jobs.resolve(job, { kind: "not-done" }, ann));
    const { job: opened } = await resent();
    await thrownBy(opened.once("charge", 7, failing));
    await opened.end({ kind: "failed" });
    await clock.advance(HOUR);
    const next = await resent("m-10");
    await thrownBy(next.job.once("charge", 7, failing));
    expect(next.job.outcome).toEqual({ kind: "parked" });
    kill("");
    await jobs.resolve(job, { kind: "done", result: 1 }, bob);
    expect(await record()).toMatchObject({ state: "open", resolution: { by: "bob" } });
    expect((await record())?.parked).toBeUndefined();
  });

  test("is resolved once: a second word is refused", async () => {
    const { jobs } = await parked();
    await jobs.resolve(job, { kind: "done" }, ann);
    await expect(jobs.resolve(job, { kind: "done" }, bob)).rejects.toThrow("resolved already");
    await expect(jobs.resolve(job, { kind: "not-done" }, bob)).rejects.toThrow("is not parked");
  });

  test("keeps why it was resolved, beside who said so", async () => {
    const { jobs, record } = await parked();
    await jobs.resolve(
      job,
      { kind: "not-done" },
      { ...ann, reason: "not in the provider's books" },
    );
    expect((await record())?.resolution).toMatchObject({
      ...{ verdict: "not-done", by: "ann", reason: "not in the provider's books" },
    });
  });

  test("is not resolved by a word about another effect, or about none", async () => {
    const { jobs, record, sent } = await parked();
    const done = { kind: "done" } as const;
    await expect(jobs.resolve(job, done, { by: "ann", effect: "before" })).rejects.toThrow(
      "waits for its effect charge: before was named",
    );
    await expect(jobs.resolve(job, done, { by: "ann" })).rejects.toThrow("none was named");
    expect([(await record())?.state, sent]).toEqual(["parked", []]);
  });

  test("is not resolved with another result when the command is run again", async () => {
    const { jobs, kill, sent } = await parked();
    kill("before send");
    await thrownBy(jobs.resolve(job, { kind: "done", result: { id: "ch_0" } }, ann));
    kill("");
    await expect(jobs.resolve(job, { kind: "done", result: { id: "ch_9" } }, ann)).rejects.toThrow(
      'was resolved with another result: {"id":"ch_0"}',
    );
    await jobs.resolve(job, { kind: "done" }, ann);
    expect(sent).toHaveLength(1);
  });

  test("on a FIFO queue is sent under a deduplication id of its own, the same when sent twice", async () => {
    const copyMessage = () => ({ ...message, deduplicationId: "first" });
    const { jobs, kill, sent } = await parked({}, copyMessage);
    kill("after send");
    await thrownBy(jobs.resolve(job, { kind: "not-done" }, ann));
    kill("");
    await jobs.resolve(job, { kind: "not-done" }, ann);
    const ids = sent.map(({ deduplicationId }) => deduplicationId);
    expect(ids).toHaveLength(2);
    expect(ids[0]).not.toBe("first");
    expect(ids[1]).toBe(ids[0]);
  });

  test("stays parked when its message is not found: nothing would ever run it", async () => {
    const results = new FolderOfTexts();
    const { jobs, record } = await parked({ results, options: { parkedMessageBytes: 10 } });
    results.texts.clear();
    await expect(jobs.resolve(job, { kind: "not-done" }, ann)).rejects.toThrow("is not found");
    expect((await record())?.state).toBe("parked");
  });

  test("is refused when there is none", async () => {
    const { jobs } = await parked();
    const other = { ...job, jobId: "invoice-8" as typeof job.jobId };
    await expect(jobs.resolve(other, { kind: "done" }, ann)).rejects.toThrow("has no record");
  });

  test("is done when its effect completes late, and stays parked until somebody says so", async () => {
    const world = setup();
    const landing = Promise.withResolvers<unknown>();
    const first = await world.open();
    const asked = thrownBy(
      first.job.once(
        "charge",
        7,
        effectOf(() => landing.promise),
      ),
    );
    await world.clock.advance(HOUR);
    await asked;
    const second = await world.open({ receiveCount: 2 }, new TestLease(), world.ledgerOf("w-2"));
    await thrownBy(second.job.once("charge", 7, effectOf(ok)));
    landing.resolve({ id: "ch_1" });
    await world.clock.settle();
    expect(await world.store.inner.read(job)).toMatchObject({
      ...{ state: "parked", effects: { charge: { state: "done" } } },
    });
    const jobs = new ParkedJobs({ store: world.store, clock: world.clock, send: async () => {} });
    await jobs.resolve(job, { kind: "done" }, ann);
    const { job: opened } = await world.open({ messageId: "m-9", guard: true });
    expect(await opened.once("charge", 7, effectOf(ok))).toEqual({ id: "ch_1" });
  });

  test("for its age is finished when all of it is done, and runs when none of it is", async () => {
    for (const verdict of ["done", "not-done"] as const) {
      const world = setup();
      const request = world.requestOf(new TestLease(), { guard: true });
      const createdAtMs = world.clock.wallMs() - 100 * 24 * HOUR;
      const surroundings = { ...request.surroundings, createdAtMs } as never;
      expect(await world.ledger.open({ ...request, surroundings })).toEqual({ kind: "parked" });
      const jobs = new ParkedJobs({ store: world.store, clock: world.clock, send: async () => {} });
      const { kind } = await jobs.resolve(job, { kind: verdict }, { by: "ann" });
      const resent = await world.ledger.open({ ...request, messageId: "m-9", surroundings });
      if (verdict === "done") {
        expect([kind, resent.kind]).toEqual(["finished", "done"]);
      } else {
        if (resent.kind !== "open") throw new Error(resent.kind);
        expect([kind, await resent.once("charge", 7, effectOf(ok))]).toEqual([
          "sent-again",
          { id: "ch_1" },
        ]);
      }
    }
  });

  test("has its message beside the record when it is too big for it", async () => {
    const results = new FolderOfTexts();
    const { jobs, sent, record } = await parked({ results, options: { parkedMessageBytes: 10 } });
    expect((await record())?.parked?.message).toMatchObject({ kind: "reference" });
    await jobs.resolve(job, { kind: "not-done" }, ann);
    expect(sent).toEqual([message]);
  });

  test("is put off, loudly, when its message cannot be stored", async () => {
    const { second, record, events } = await parked({ options: { parkedMessageBytes: 10 } });
    expect(second.job.outcome).toMatchObject({ kind: "busy" });
    expect(await record()).toMatchObject({ state: "open" });
    expect(events).toContainEqual({
      ...{ kind: "ledger.unparkable", job, why: "outcome-unknown", alarm: true },
    });
  });
});

describe("cancelling a job", () => {
  const cancelOf = ({ store, clock }: ReturnType<typeof setup>) =>
    cancelJob({ store, clock, retentionMs: HOUR }, job, "ann: wrong customer");

  test("that has not come yet keeps it from ever starting", async () => {
    const world = setup();
    expect(await cancelOf(world)).toEqual({ kind: "cancelled", openEffects: [] });
    expect((await world.open({ guard: true })).opening).toEqual({ kind: "cancelled" });
    const lazy = await world.open();
    expect(await thrownBy(lazy.job.once("charge", 7, effectOf(ok)))).toMatchObject({
      outcome: { kind: "cancelled" },
    });
    const record = await world.store.inner.read(job);
    expect(record).toMatchObject({ reason: { code: "cancelled", detail: "ann: wrong customer" } });
    expect(record?.expiresAtMs).toBe(world.clock.wallMs() + HOUR);
  });

  test("that runs is heard by it with its next extension, and starts nothing more", async () => {
    const world = setup();
    const { job: opened } = await world.open({ guard: true });
    await cancelOf(world);
    await opened.heartbeat(1);
    expect(opened.stopped.reason).toMatchObject({ outcome: { kind: "cancelled" } });
    const effect = effectOf(ok);
    await thrownBy(opened.once("charge", 7, effect));
    expect(effect.calls).toEqual([]);
  });

  test("lets an effect under way complete, and keeps its record until it has", async () => {
    const world = setup();
    const landing = Promise.withResolvers<unknown>();
    const { job: opened } = await world.open();
    const asked = opened.once(
      "charge",
      7,
      effectOf(() => landing.promise),
    );
    await world.clock.settle();
    expect(await cancelOf(world)).toEqual({ kind: "cancelled", openEffects: ["charge"] });
    expect((await world.store.inner.read(job))?.expiresAtMs).toBeUndefined();
    landing.resolve({ id: "ch_1" });
    await asked;
    expect(await world.store.inner.read(job)).toMatchObject({
      ...{ state: "cancelled", effects: { charge: { state: "done" } } },
    });
    expect(await cancelOf(world)).toEqual({ kind: "cancelled", openEffects: [] });
    expect((await world.store.inner.read(job))?.expiresAtMs).toBe(world.clock.wallMs() + HOUR);
  });

  test("that is done changes nothing", async () => {
    const world = setup();
    const { job: opened } = await world.open();
    await opened.once("charge", 7, effectOf(ok, { last: true }));
    expect(await cancelOf(world)).toEqual({ kind: "done" });
  });
});
