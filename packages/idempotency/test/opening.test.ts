import { describe, expect, test } from "vitest";
import { effectOf, job, setup, TestLease, thrownBy } from "./ledger-setup.ts";

const ok = () => ({ id: "ch_1" });
const DAY = 86_400_000;
const spent = { code: "attempts-exhausted", detail: "5 of 5 failed" };

/** A job that another worker has opened and holds. */
async function held() {
  const world = setup();
  const first = await world.open({ guard: true });
  const other = world.ledgerOf("w-2");
  const openAs = (more: object) => world.open(more, new TestLease(), other);
  return { ...world, first, openAs };
}

describe("opening a job", () => {
  test("asks the store nothing for an ordinary first delivery", async () => {
    const { open, store } = setup();
    const { opening } = await open();
    expect(opening).toMatchObject({
      ...{ kind: "open", outcome: undefined, settleAtMs: undefined },
      history: { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 },
    });
    expect([store.writes, store.reads]).toEqual([[], 0]);
  });

  test.each([[{ guard: true }], [{ checkpoints: true }], [{ receiveCount: 2 }], [{ retry: true }]])(
    "is recorded before the handler starts with %j",
    async (more) => {
      const { open, store } = setup();
      await open(more);
      expect(store.writes).toEqual(["open-new"]);
    },
  );

  test("says of a duplicate that the job is done, so that it is acked (tomodachi PR 2074)", async () => {
    const { open, store } = setup();
    const first = await open();
    await first.job.once("charge", 7, effectOf(ok));
    expect(await first.job.end({ kind: "succeeded", result: { id: "ch_1" } })).toEqual({
      kind: "recorded",
    });
    expect(await store.inner.read(job)).toMatchObject({ state: "done", result: '{"id":"ch_1"}' });
    for (const receiveCount of [1, 2, 9]) {
      const { opening } = await open({ messageId: "m-2", receiveCount, guard: true });
      expect(opening).toEqual({ kind: "done" });
    }
  });

  test("is busy for another message while the lease runs, and until the clocks agree", async () => {
    const { openAs, clock } = await held();
    const { opening } = await openAs({ messageId: "m-2", guard: true });
    expect(opening).toEqual({ kind: "busy", retryAtMs: clock.wallMs() + 65_001 });
    await clock.advance(65_001);
    expect((await openAs({ messageId: "m-2", guard: true })).opening.kind).toBe("open");
  });

  test("puts a message off longer each time that it comes, up to a quarter of an hour", async () => {
    const { openAs, clock } = await held();
    const waits: number[] = [];
    for (const receiveCount of [1, 2, 3, 4, 5, 9]) {
      const { opening } = await openAs({ messageId: "m-2", receiveCount, guard: true });
      if (opening.kind === "busy") waits.push(opening.retryAtMs - clock.wallMs());
    }
    expect(waits).toEqual([65_001, 130_002, 260_004, 520_008, 900_000, 900_000]);
  });

  test("is open at once for a later delivery of the same message: its earlier lease has ended (powertools-lambda 53)", async () => {
    const { openAs, first } = await held();
    await openAs({ receiveCount: 2 });
    expect(await first.job.end({ kind: "succeeded" })).toEqual({
      kind: "stopped",
      outcome: { kind: "fenced" },
    });
  });

  test("takes no delivery of a message that is held for the death of its worker, however often", async () => {
    const { openAs, clock } = await held();
    for (const receiveCount of [2, 3, 4]) {
      const { job: opened } = await openAs({ receiveCount });
      expect(opened.history).toMatchObject({ crashes: 0 });
    }
    await clock.advance(61_000);
    expect((await openAs({ receiveCount: 5 })).job.history).toMatchObject({ crashes: 1 });
  });

  test("is fenced for an earlier delivery of the same message, also when the lease is over", async () => {
    const { openAs, open, clock } = await held();
    await openAs({ receiveCount: 3 });
    await clock.advance(DAY);
    expect((await open({ receiveCount: 2 })).opening).toEqual({ kind: "fenced" });
  });

  test("is not refused to a delivery whose opening write lost its answer", async () => {
    const { open, store, clock } = setup();
    const lost = new Set<string>();
    store.fault = ({ name }) => {
      if (lost.has(name)) return undefined;
      lost.add(name);
      return "reply-lost";
    };
    const first = open({ guard: true });
    await clock.advance(1_000);
    expect((await first).opening.kind).toBe("open");
    await clock.advance(60_000);
    const second = open({ receiveCount: 2 });
    await clock.advance(1_000);
    expect((await second).job.history).toMatchObject({ crashes: 1 });
    expect(lost).toEqual(new Set(["open-new", "open-next"]));
  });

  test("is down with the store, for a job that must be recorded", async () => {
    const { open, store, clock } = setup();
    store.fault = () => "refused";
    const opening = open({ guard: true });
    await clock.advance(5_000);
    expect((await opening).opening).toEqual({ kind: "store-down" });
  });

  test("tells when the same identity comes with another payload", async () => {
    const { requestOf, ledger, kinds, open } = setup();
    const first = await open({ guard: true });
    await first.job.end({ kind: "failed" });
    const request = requestOf(new TestLease(), { receiveCount: 2 });
    const surroundings = { ...request.surroundings, payload: { amount: 8 } };
    await ledger.open({ ...request, surroundings: surroundings as never });
    expect(kinds()).toContain("ledger.payload-differs");
  });

  test("serves to count attempts alone, without a lease to work under", async () => {
    const { ledger } = setup();
    const attempt = { job, messageId: "m-1" };
    const first = await ledger.open({ ...attempt, receiveCount: 1 });
    if (first.kind !== "open") throw new Error(first.kind);
    expect(String(await thrownBy(first.once("charge", 7, effectOf(ok))))).toContain(
      "no job ledger",
    );
    expect(await first.end({ kind: "failed" })).toEqual({ kind: "recorded" });
    const second = await ledger.open({ ...attempt, receiveCount: 2 });
    expect(second).toMatchObject({ kind: "open", history: { failures: 1 } });
  });
});

describe("the history of a job", () => {
  test("counts failures, interruptions, put-offs and crashes apart", async () => {
    const { open, clock } = setup();
    let receiveCount = 0;
    const run = async (kind?: "failed" | "interrupted" | "put-off" | "uncounted") => {
      receiveCount += 1;
      await clock.advance(61_000);
      const { job: opened } = await open({ receiveCount });
      if (kind !== undefined) await opened.end({ kind });
      return opened.history;
    };
    await run("failed");
    await run("interrupted");
    await run("interrupted");
    await run("put-off");
    await run("uncounted");
    await run();
    await run();
    expect(await run()).toEqual({ failures: 1, interruptions: 2, crashes: 2, putOffs: 1 });
  });

  test("forgets interruptions when progress is saved", async () => {
    const { open } = setup();
    for (const receiveCount of [1, 2]) {
      const { job: opened } = await open({ receiveCount, checkpoints: true });
      await opened.end({ kind: "interrupted" });
    }
    const third = await open({ receiveCount: 3, checkpoints: true });
    expect(third.job.history.interruptions).toBe(2);
    await third.job.checkpoint.save({ page: 7 });
    await third.job.end({ kind: "interrupted" });
    const fourth = await open({ receiveCount: 4, checkpoints: true });
    expect(fourth.job.history.interruptions).toBe(1);
    expect(fourth.job.checkpoint.load()).toEqual({ page: 7 });
  });

  test("begins anew when a dead job comes again as a new message, with its effects and its progress", async () => {
    const { open, store } = setup();
    const first = await open({ checkpoints: true });
    await first.job.once("charge", 7, effectOf(ok));
    await first.job.checkpoint.save(3);
    await first.job.end({ kind: "given-up", reason: spent });
    expect(await store.inner.read(job)).toMatchObject({ state: "dead", reason: spent });

    expect((await open({ receiveCount: 2 })).opening).toEqual({ kind: "dead", reason: spent });
    const again = effectOf(ok);
    const redriven = await open({ messageId: "m-2", checkpoints: true });
    expect(redriven.job.history).toEqual({ failures: 0, interruptions: 0, crashes: 0, putOffs: 0 });
    expect(redriven.job.checkpoint.load()).toBe(3);
    await redriven.job.once("charge", 7, again);
    expect(again.calls).toEqual([]);
    const record = await store.inner.read(job);
    expect(record).toMatchObject({ generation: 2, failures: 0, starts: 1, endings: 0 });
    expect(record?.reason).toBeUndefined();
  });

  test("begins anew for the same message when an operator redrove it", async () => {
    const { open } = setup();
    const first = await open({ guard: true });
    await first.job.end({ kind: "given-up", reason: spent });
    expect((await open({ receiveCount: 2, redriven: true })).opening.kind).toBe("open");
  });
});

describe("a worker that has lost its job", () => {
  test("starts no effect: the token is checked in the write that marks it (MemWal PR 562)", async () => {
    const { openAs, first, store } = await held();
    await openAs({ receiveCount: 2 });
    const effect = effectOf(ok);
    expect(await thrownBy(first.job.once("charge", 7, effect))).toMatchObject({
      outcome: { kind: "fenced" },
    });
    expect(effect.calls).toEqual([]);
    expect((await store.inner.read(job))?.effects).toEqual({});
  });

  test("leaves the record of its successor alone (powertools-lambda-typescript 5675)", async () => {
    const { openAs, first, store } = await held();
    await openAs({ receiveCount: 2 });
    const before = await store.inner.read(job);
    await first.job.heartbeat(Number.MAX_SAFE_INTEGER);
    await thrownBy(first.job.checkpoint.save(1));
    for (const kind of ["failed", "interrupted", "put-off", "uncounted", "succeeded"] as const) {
      await first.job.end({ kind });
    }
    expect(await store.inner.read(job)).toEqual(before);
  });

  test("starts no effect although its lease looks held to itself (amazon-dynamodb-lock-client 1)", async () => {
    const { open, openAs, store, clock } = await held();
    await clock.advance(70_000);
    const paused = await open({ receiveCount: 2 });
    await paused.job.once("first", 7, effectOf(ok));
    await openAs({ receiveCount: 3 });
    // Nobody has told it: its clock stood still, so its lease and its view of the record are fine.
    const effect = effectOf(ok);
    await thrownBy(paused.job.once("second", 7, effect));
    expect([effect.calls, paused.lease.remainingMs]).toEqual([[], 60_000]);
    expect(Object.keys((await store.inner.read(job))?.effects ?? {})).toEqual(["first"]);
  });

  test("hears of it with its next extension, whatever it is doing", async () => {
    const { openAs, first } = await held();
    await openAs({ receiveCount: 2 });
    expect(first.job.stopped.aborted).toBe(false);
    await first.job.heartbeat(1);
    expect(first.job.stopped.reason).toMatchObject({ outcome: { kind: "fenced" } });
  });

  test("ends so whatever its handler makes of it", async () => {
    const { openAs, first } = await held();
    await openAs({ receiveCount: 2 });
    await first.job.once("charge", 7, effectOf(ok)).catch(() => {});
    await first.job.once("other", 7, effectOf(ok)).catch(() => {});
    expect(await first.job.end({ kind: "succeeded" })).toEqual({
      kind: "stopped",
      outcome: { kind: "fenced" },
    });
  });

  test("begins no effect once its run has ended", async () => {
    const { first, store } = await held();
    await first.job.end({ kind: "failed" });
    const effect = effectOf(ok);
    expect(String(await thrownBy(first.job.once("charge", 7, effect)))).toContain("has ended");
    expect(effect.calls).toEqual([]);
    expect(store.writes).toEqual(["open-new", "end"]);
  });
});

describe("a job that is too old for a missing record to mean anything", () => {
  const old = (world: ReturnType<typeof setup>, createdAtMs: number, more: object = {}) => {
    const request = world.requestOf(new TestLease(), more);
    return { ...request, surroundings: { ...request.surroundings, createdAtMs } as never };
  };

  test("is parked before its first effect, or at once when it is guarded", async () => {
    for (const guard of [true, false]) {
      const world = setup();
      const request = old(world, world.clock.wallMs() - 35 * DAY, { guard });
      const opening = await world.ledger.open(request);
      const effect = effectOf(ok);
      if (opening.kind === "open") await thrownBy(opening.once("charge", 7, effect));
      const outcome = opening.kind === "open" ? opening.outcome : opening;
      expect(outcome).toEqual({ kind: "parked" });
      expect(effect.calls).toEqual([]);
      expect(await world.store.inner.read(job)).toMatchObject({ parked: { why: "too-old" } });
    }
  });

  test("is parked also when an attempt without effects had made a record meanwhile", async () => {
    const world = setup();
    const createdAtMs = world.clock.wallMs() - 35 * DAY;
    const opening = await world.ledger.open(old(world, createdAtMs, { receiveCount: 2 }));
    if (opening.kind !== "open") throw new Error(opening.kind);
    await thrownBy(opening.once("charge", 7, effectOf(ok)));
    expect(opening.outcome).toEqual({ kind: "parked" });
  });

  test("is parked when the table was restored after it was made", async () => {
    const world = setup({ options: { restoredAtMs: Date.UTC(2026, 0, 1) - 1 } });
    const opening = await world.ledger.open(
      old(world, world.clock.wallMs() - 3_600_000, { guard: true }),
    );
    expect(opening).toEqual({ kind: "parked" });
  });

  test("runs when its record is old enough itself, or it has no effects", async () => {
    const world = setup();
    const createdAtMs = world.clock.wallMs();
    const first = await world.ledger.open(old(world, createdAtMs, { guard: true }));
    if (first.kind === "open") await first.end({ kind: "failed" });
    await world.clock.advance(40 * DAY);
    const second = await world.ledger.open(old(world, createdAtMs, { receiveCount: 2 }));
    if (second.kind !== "open") throw new Error(second.kind);
    expect(await second.once("charge", 7, effectOf(ok))).toEqual({ id: "ch_1" });

    const other = setup();
    const plain = await other.ledger.open(old(other, other.clock.wallMs() - 90 * DAY));
    if (plain.kind !== "open") throw new Error(plain.kind);
    expect(await plain.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
  });
});

describe("the expiry of a record", () => {
  test("is 35 days from the end, slides while nothing is open, and goes with an open effect", async () => {
    const { open, store, clock } = setup();
    const expiry = async () => (await store.inner.read(job))?.expiresAtMs;
    const in35Days = () => clock.wallMs() + 35 * DAY;
    const { job: first } = await open({ guard: true });
    expect(await expiry()).toBe(in35Days());
    await first.once(
      "charge",
      7,
      effectOf(async () => {
        expect(await expiry()).toBeUndefined();
      }),
    );
    await clock.advance(10_000);
    await first.end({ kind: "failed" });
    expect(await expiry()).toBe(in35Days());
    await clock.advance(10_000);
    const { job: second } = await open({ receiveCount: 2 });
    expect(await expiry()).toBeUndefined();
    await second.end({ kind: "succeeded" });
    expect(await expiry()).toBe(in35Days());
  });

  test("never comes for an effect that leaves a tombstone", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await opened.once("charge", 7, effectOf(ok, { tombstone: true, last: true }));
    const record = await store.inner.read(job);
    expect(record).toMatchObject({ state: "done" });
    expect(record?.expiresAtMs).toBeUndefined();
  });

  test("never comes for a job that is given up with an open effect", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    const failing = effectOf(() => {
      throw new Error("socket hang up");
    });
    await thrownBy(opened.once("charge", 7, failing));
    await opened.end({ kind: "given-up", reason: spent });
    const record = await store.inner.read(job);
    expect(record).toMatchObject({ state: "dead", effects: { charge: { state: "unknown" } } });
    expect(record?.expiresAtMs).toBeUndefined();
  });
});
