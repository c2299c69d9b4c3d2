import {
  NotSentError,
  PermanentJobError,
  park,
  query,
  RejectedError,
  replay,
  rerun,
} from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { effectOf, job, message, setup, TestLease, thrownBy } from "./ledger-setup.ts";

const HOUR = 3_600_000;
const ok = () => ({ id: "ch_1" });
const unknown = () => {
  throw new Error("socket hang up");
};
const hourOfReplay = replay({ windowMs: HOUR, after: park() });

/** A first delivery whose effect ended without an answer. */
async function afterUnknown(recover = effectOf(ok).recover) {
  const world = setup();
  const first = await world.open();
  const failing = effectOf(unknown, { recover });
  await thrownBy(first.job.once("charge", 7, failing));
  await first.job.end({ kind: "failed" });
  const next = (receiveCount = 2) =>
    world.open({ receiveCount }, new TestLease(), world.ledgerOf(`w-${receiveCount}`));
  const record = async () => (await world.store.inner.read(job))?.effects["charge"];
  return { ...world, failing, next, record };
}

describe("once", () => {
  test("hands back what a later run will be given, too", async () => {
    const { open } = setup();
    const { job: opened } = await open();
    const effect = effectOf(() => ({ at: new Date(0), secret: 1 }), {
      pick: (result) => ({ at: (result as { at: Date }).at }),
    });
    expect(await opened.once("charge", 7, effect)).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(await opened.once("charge", 7, effect)).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(effect.calls).toHaveLength(1);
  });

  test("gives the provider the same key in every attempt (akash-network/console PR 3449; pympp PR 155)", async () => {
    const { next, failing, clock } = await afterUnknown(hourOfReplay);
    await clock.advance(1_000);
    const again = effectOf(ok, { recover: hourOfReplay });
    await (await next()).job.once("charge", 7, again);
    expect(again.calls).toEqual(failing.calls);
    expect(again.calls[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  test("stores the key and the time of the first send before it sends", async () => {
    const { open, store, clock } = setup();
    const { job: opened } = await open();
    const seen = effectOf(async ({ key }) => {
      const record = (await store.inner.read(job))?.effects["charge"];
      expect(record).toMatchObject({ state: "started", providerKey: key, attempts: 1 });
      expect(record?.firstSentAtMs).toBe(clock.wallMs());
      return "sent";
    });
    expect(await opened.once("charge", 7, seen)).toBe("sent");
  });

  test("lets a second caller of the same effect wait for the first", async () => {
    const { open } = setup();
    const { job: opened } = await open();
    const effect = effectOf(ok);
    const both = [opened.once("charge", 7, effect), opened.once("charge", 7, effect)];
    expect(await Promise.all(both)).toEqual([{ id: "ch_1" }, { id: "ch_1" }]);
    expect(effect.calls).toHaveLength(1);
  });

  test("opens the job once for effects that are asked for at the same time", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await Promise.all(["a", "b", "c"].map((name) => opened.once(name, 7, effectOf(ok))));
    expect(store.writes.filter((name) => name === "open-new")).toHaveLength(1);
    expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
  });

  test("refuses another input for good, and changes nothing", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await opened.once("charge", { b: 1, a: [2] }, effectOf(ok));
    const before = await store.inner.read(job);
    expect(await opened.once("charge", { a: [2], b: 1 }, effectOf(ok))).toEqual({ id: "ch_1" });
    const other = effectOf(ok);
    expect(await thrownBy(opened.once("charge", { b: 2 }, other))).toBeInstanceOf(
      PermanentJobError,
    );
    expect(other.calls).toEqual([]);
    expect(await store.inner.read(job)).toEqual(before);
  });

  test.each([
    [{ recover: undefined }, /recover must say what to do/],
    [{ recover: { kind: "replay", windowMs: 0, after: { kind: "park" } } }, /windowMs must be/],
    [{ recover: { kind: "replay", windowMs: 1, after: { kind: "rerun" } } }, /after must be/],
    [{ recover: { kind: "query" } }, /lookup must be a function/],
    [{ timeoutMs: 0 }, /timeoutMs must be a number of milliseconds above 0, got 0/],
    [{ run: undefined }, /run must be a function/],
  ])("refuses an effect that makes no sense: %j", async (wrong, sentence) => {
    const { open, store } = setup();
    const { job: opened } = await open();
    const effect = { ...effectOf(ok), ...wrong } as never;
    expect(String(await thrownBy(opened.once("charge", 7, effect)))).toMatch(sentence);
    expect(store.writes).toEqual([]);
  });

  test("refuses a name that does not fit a record", async () => {
    const { open } = setup();
    const { job: opened } = await open();
    expect(String(await thrownBy(opened.once("Charge!", 7, effectOf(ok))))).toMatch(
      /its name must be .* got "Charge!"/,
    );
  });
});

describe("an effect whose outcome is unknown", () => {
  test("is not run again after an exception, but by its policy (powertools-lambda-python 801, 8049; autumn PR 2961)", async () => {
    const { next, store } = await afterUnknown();
    const again = effectOf(ok);
    const { job: opened } = await next();
    expect(await thrownBy(opened.once("charge", 7, again))).toMatchObject({
      outcome: { kind: "busy" },
    });
    expect(again.calls).toEqual([]);
    expect((await store.inner.read(job))?.effects["charge"]?.state).toBe("unknown");
  });

  test("is replayed at once under its key, for its attempt has ended", async () => {
    const { next, events } = await afterUnknown(hourOfReplay);
    const again = effectOf(ok, { recover: hourOfReplay });
    expect(await (await next()).job.once("charge", 7, again)).toEqual({ id: "ch_1" });
    expect(events).toContainEqual({
      ...{ kind: "effect.taken-over", job, effect: "charge", policy: "replay", attempt: 2 },
    });
  });

  test("is not replayed after the provider's window, but left to what comes then (carbon 252)", async () => {
    const { next, clock } = await afterUnknown(hourOfReplay);
    await clock.advance(HOUR);
    const again = effectOf(ok, { recover: hourOfReplay });
    const { job: opened } = await next();
    expect(await thrownBy(opened.once("charge", 7, again))).toMatchObject({
      outcome: { kind: "parked" },
    });
    expect(again.calls).toEqual([]);
  });

  test("is asked for at the provider when it has settled, and not sent when it is found there", async () => {
    const found = query<unknown>(async () => ({ kind: "applied", result: { id: "ch_0" } }));
    const { next, clock, record } = await afterUnknown(found);
    const again = effectOf(ok, { recover: found });
    const busy = await thrownBy((await next(2)).job.once("charge", 7, again));
    // Its deadline (3 s to write, 10 s to run), settle 60 s, skew 5 s.
    expect(busy).toMatchObject({ outcome: { kind: "busy", retryAtMs: clock.wallMs() + 78_001 } });
    await clock.advance(78_001);
    expect(await (await next(3)).job.once("charge", 7, again)).toEqual({ id: "ch_0" });
    expect(again.calls).toEqual([]);
    expect(await record()).toMatchObject({ state: "done", outcome: "ok", attempts: 2 });
  });

  test("is sent again when the provider is certain that it is not there", async () => {
    const absent = query<unknown>(async () => ({ kind: "absent" }), { settleMs: 1_000 });
    const { next, clock } = await afterUnknown(absent);
    await clock.advance(20_000);
    const again = effectOf(ok, { recover: absent });
    expect(await (await next()).job.once("charge", 7, again)).toEqual({ id: "ch_1" });
    expect(again.calls).toHaveLength(1);
  });

  test("stays unknown when the provider cannot be asked", async () => {
    const down = query<unknown>(async () => {
      throw new Error("503");
    });
    const { next, clock, record } = await afterUnknown(down);
    await clock.advance(HOUR);
    const again = effectOf(ok, { recover: down });
    await expect((await next()).job.once("charge", 7, again)).rejects.toThrow("503");
    expect(again.calls).toEqual([]);
    expect(await record()).toMatchObject({ state: "unknown", attempts: 2 });
  });

  test("is run again by rerun once it has settled", async () => {
    const { next, clock } = await afterUnknown(rerun());
    const again = effectOf(ok, { recover: rerun() });
    await thrownBy((await next(2)).job.once("charge", 7, again));
    expect(again.calls).toEqual([]);
    await clock.advance(HOUR);
    await (await next(3)).job.once("charge", 7, again);
    expect(again.calls).toHaveLength(1);
  });

  test("parks its job with the raw message, and no time to live", async () => {
    const { next, clock, store } = await afterUnknown(park());
    await clock.advance(HOUR);
    const { job: opened } = await next();
    await thrownBy(opened.once("charge", 7, effectOf(ok)));
    expect(opened.outcome).toEqual({ kind: "parked" });
    const record = await store.inner.read(job);
    expect(record).toMatchObject({ state: "parked", parked: { why: "outcome-unknown" } });
    expect(record?.parked?.message).toEqual({ kind: "inline", message });
    expect(record?.expiresAtMs).toBeUndefined();
  });

  test("lets no run end well", async () => {
    const { open, clock, store } = setup();
    const { job: opened } = await open();
    await thrownBy(opened.once("charge", 7, effectOf(unknown)));
    const answer = await opened.end({ kind: "succeeded" });
    const retryAtMs = clock.wallMs() + 13_000 + 60_000 + 5_000;
    expect(answer).toEqual({ kind: "unsettled", retryAtMs, effects: ["charge"] });
    expect(await store.inner.read(job)).toMatchObject({ state: "open", putOffs: 1 });
  });

  test("has an end although its run does not heed the signal, and is done when it answers late", async () => {
    const { open, clock, store } = setup();
    const { job: opened } = await open();
    const late = Promise.withResolvers<unknown>();
    let aborted = false;
    const effect = effectOf(() => late.promise);
    const slow = {
      ...effect,
      run: (call: Parameters<typeof effect.run>[0]) => {
        call.signal.addEventListener("abort", () => {
          aborted = true;
        });
        return effect.run(call);
      },
    };
    const asked = thrownBy(opened.once("charge", 7, slow));
    await clock.advance(10_000);
    expect(await asked).toMatchObject({ code: "EFFECT_TIMEOUT" });
    expect(aborted).toBe(true);
    expect((await store.inner.read(job))?.effects["charge"]?.state).toBe("unknown");
    late.resolve({ id: "ch_1" });
    await clock.settle();
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "done" });
  });
});

describe("what run throws", () => {
  test("releases the effect when nothing was sent, and it starts anew", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    const notSent = effectOf(() => {
      throw new NotSentError("no route");
    });
    expect(await thrownBy(opened.once("charge", 7, notSent))).toBeInstanceOf(NotSentError);
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "released" });
    expect(await opened.once("charge", 7, effectOf(ok))).toEqual({ id: "ch_1" });
  });

  test("does not release it on a second attempt: the first may have been sent", async () => {
    const { next, record } = await afterUnknown(hourOfReplay);
    const notSent = effectOf(
      () => {
        throw new NotSentError("no route");
      },
      { recover: hourOfReplay },
    );
    await thrownBy((await next()).job.once("charge", 7, notSent));
    expect(await record()).toMatchObject({ state: "unknown", attempts: 2 });
  });

  test("keeps a rejection and throws it again in every later run", async () => {
    const { open, ledgerOf } = setup();
    const { job: opened } = await open();
    const declined = effectOf(() => {
      throw new RejectedError("card_declined", "no funds");
    });
    await thrownBy(opened.once("charge", 7, declined));
    expect(await opened.end({ kind: "failed" })).toEqual({ kind: "recorded" });
    const again = effectOf(ok);
    const second = await open({ receiveCount: 2 }, new TestLease(), ledgerOf("w-2"));
    expect(await thrownBy(second.job.once("charge", 7, again))).toMatchObject({
      ...{ code: "EFFECT_REJECTED", reason: "card_declined", message: "no funds" },
    });
    expect(again.calls).toEqual([]);
    expect(await second.job.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
  });

  test("is unknown when a second attempt's key is refused", async () => {
    const { next, record } = await afterUnknown(hourOfReplay);
    const refused = effectOf(
      () => {
        throw new RejectedError("idempotency_error", "key in use", { refusedKey: true });
      },
      { recover: hourOfReplay },
    );
    await thrownBy((await next()).job.once("charge", 7, refused));
    expect(await record()).toMatchObject({ state: "unknown" });
  });
});

describe("before an effect", () => {
  test("the lease is made to reach beyond its end", async () => {
    const { open } = setup();
    const { job: opened, lease } = await open();
    await opened.once("charge", 7, effectOf(ok));
    expect(lease.reached).toEqual([12_000]);
  });

  test("nothing is written or sent when the lease does not reach", async () => {
    const { open, store } = setup();
    const lease = new TestLease();
    lease.remainingMs = 5_000;
    lease.reachesMs = 11_000;
    const { job: opened } = await open({}, lease);
    const effect = effectOf(ok);
    expect(await thrownBy(opened.once("charge", 7, effect))).toMatchObject({
      outcome: { kind: "lease-lost" },
    });
    expect([store.writes, effect.calls]).toEqual([[], []]);
  });

  test("nothing is begun that cannot end before the drain's deadline", async () => {
    const { open, store } = setup();
    const { job: opened, lease } = await open();
    lease.drainMs = 11_000;
    expect(await thrownBy(opened.once("charge", 7, effectOf(ok)))).toMatchObject({
      outcome: { kind: "draining" },
    });
    expect(store.writes).toEqual([]);
    expect(await opened.end({ kind: "succeeded" })).toMatchObject({ kind: "stopped" });
  });

  test("nothing is sent when the store is down, and the job has not failed", async () => {
    const { open, store, clock } = setup();
    const { job: opened } = await open();
    store.fault = () => "refused";
    const effect = effectOf(ok);
    const asked = thrownBy(opened.once("charge", 7, effect));
    await clock.advance(10_000);
    expect(await asked).toMatchObject({ outcome: { kind: "store-down" } });
    expect(effect.calls).toEqual([]);
    expect(await opened.end({ kind: "failed" })).toMatchObject({ kind: "stopped" });
  });

  test("a pause between its record and its sending is noticed, and it is not sent", async () => {
    const { open, clock, store } = setup();
    const { job: opened } = await open();
    const effect = effectOf(ok);
    store.fault = ({ name }) => {
      // The worker stands still while its write is on its way; its lease is extended meanwhile.
      if (name === "open-new") void clock.block(20_000);
      return undefined;
    };
    expect(await thrownBy(opened.once("charge", 7, effect))).toMatchObject({
      outcome: { kind: "busy" },
    });
    expect(effect.calls).toEqual([]);
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "released" });
  });
});

describe("after an effect", () => {
  test("its completion is tried until the store takes it, and the handler waits for that (powertools-lambda-typescript 2944)", async () => {
    const { open, store, clock, events, ledger } = setup();
    const { job: opened } = await open();
    store.fault = ({ name }) => (name === "complete" ? "refused" : undefined);
    let isDone = false;
    const effect = effectOf(ok, { reference: (result) => (result as { id: string }).id });
    const asked = opened.once("charge", 7, effect).then(() => {
      isDone = true;
    });
    await clock.advance(600_000);
    expect(isDone).toBe(false);
    expect(ledger.unrecorded).toBe(1);
    expect(events).toContainEqual({
      ...{ kind: "effect.completion-unrecorded", job, effect: "charge" },
      ...{ reference: "ch_1", final: false, alarm: false },
    });
    store.fault = () => undefined;
    await clock.advance(5_000);
    await asked;
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "done" });
    expect(ledger.unrecorded).toBe(0);
  });

  test("a process that ends without having recorded it says so, and does not ack", async () => {
    const { open, store, clock, events, ledger } = setup();
    const { job: opened } = await open();
    store.fault = ({ name }) => (name === "complete" ? "refused" : undefined);
    const asked = thrownBy(opened.once("charge", 7, effectOf(ok)));
    await clock.advance(1_000);
    await ledger.stop();
    expect(await asked).toMatchObject({ outcome: { kind: "store-down" } });
    expect(events.at(-1)).toMatchObject({ kind: "effect.completion-unrecorded", final: true });
    expect(await opened.end({ kind: "succeeded" })).toMatchObject({ kind: "stopped" });
  });

  test("a handler that must stop is let go, and the completion is tried on", async () => {
    const { open, store, clock, ledger } = setup();
    const { job: opened, lease } = await open();
    store.fault = ({ name }) => (name === "complete" ? "refused" : undefined);
    const asked = thrownBy(opened.once("charge", 7, effectOf(ok)));
    await clock.advance(1_000);
    lease.abort.abort(new Error("drain"));
    await clock.advance(5_000);
    expect(await asked).toMatchObject({ outcome: { kind: "store-down" } });
    store.fault = () => undefined;
    await clock.advance(5_000);
    await ledger.idle();
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "done" });
  });

  test("a lost answer to any of its writes changes nothing (cirello-io/dynamolock 280; aws-sdk-java 2667; idempot-js 185)", async () => {
    const { open, store, clock, kinds } = setup();
    const lost = new Set<string>();
    store.fault = ({ name }) => {
      if (lost.has(name)) return undefined;
      lost.add(name);
      return "reply-lost";
    };
    const { job: opened } = await open();
    const effect = effectOf(ok);
    const all = (async () => {
      await opened.once("a", 7, effect);
      await opened.once("b", 7, effect);
      return await opened.end({ kind: "succeeded" });
    })();
    await clock.advance(10_000);
    expect(await all).toEqual({ kind: "recorded" });
    expect(effect.calls).toHaveLength(2);
    expect([...lost]).toEqual(["open-new", "complete", "start", "finish"]);
    expect(new Set(kinds())).toEqual(
      new Set(["ledger.store-failing", "effect.completion-unrecorded"]),
    );
  });
});
