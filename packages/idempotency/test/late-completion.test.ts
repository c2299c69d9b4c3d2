import { park, RejectedError, replay } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { complete } from "../effect-writes.ts";
import { type EffectRecord, MemoryLedgerStore } from "../index.ts";
import { effectOf, job, setup, TestLease, thrownBy } from "./ledger-setup.ts";

const recover = replay({ windowMs: 3_600_000, after: park() });

/** A zombie whose effect is under way, and the worker that takes it over. */
async function overtaken() {
  const world = setup();
  const zombie = await world.open();
  const landing = Promise.withResolvers<unknown>();
  const first = zombie.job.once(
    "charge",
    7,
    effectOf(() => landing.promise, { recover }),
  );
  const zombieEnded = thrownBy(first);
  await world.clock.settle();
  // Stands still beyond its lease and its deadline.
  await world.clock.block(60_000);
  const next = await world.open({ receiveCount: 2 }, new TestLease(), world.ledgerOf("w-2"));
  const effect = async () => (await world.store.inner.read(job))?.effects["charge"];
  const land = async (result: unknown) => {
    landing.resolve(result);
    await world.clock.settle();
  };
  return { ...world, zombie, zombieEnded, land, next, effect };
}

const charge = (answer: () => unknown) => effectOf(answer, { recover });

describe("a completion that comes late", () => {
  test("finishes the effect while its successor is still at it, and both results agree", async () => {
    const { next, land, effect, kinds } = await overtaken();
    const slow = Promise.withResolvers<unknown>();
    const second = next.job.once(
      "charge",
      7,
      charge(() => slow.promise),
    );
    await land({ id: "ch_1" });
    expect(await effect()).toMatchObject({ state: "done", outcome: "ok", late: true, attempts: 2 });
    slow.resolve({ id: "ch_1" });
    expect(await second).toEqual({ id: "ch_1" });
    expect(kinds()).toContain("effect.completed-late");
    expect(kinds()).not.toContain("effect.results-differ");
    expect(await next.job.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
  });

  test("raises an alarm when two attempts had different results, and the first recorded one stands", async () => {
    const { next, land, effect, events } = await overtaken();
    expect(
      await next.job.once(
        "charge",
        7,
        charge(() => ({ id: "ch_2" })),
      ),
    ).toEqual({ id: "ch_2" });
    await land({ id: "ch_1" });
    expect(events).toContainEqual({
      ...{ kind: "effect.results-differ", job, effect: "charge", alarm: true },
    });
    expect((await effect())?.result).toEqual({ kind: "inline", json: '{"id":"ch_2"}' });
  });

  test("is no rejection for its successor: a late one changes nothing", async () => {
    const { next, land, effect, zombie } = await overtaken();
    const slow = Promise.withResolvers<unknown>();
    const second = next.job.once(
      "charge",
      7,
      charge(() => slow.promise),
    );
    await land(Promise.reject(new RejectedError("card_declined")));
    expect(await effect()).toMatchObject({ state: "started", attempts: 2 });
    slow.resolve({ id: "ch_1" });
    expect(await second).toEqual({ id: "ch_1" });
    expect(zombie.job.outcome?.kind ?? "none").toBe("none");
  });

  test("is refused as a rejection also when its write was under way for that long", async () => {
    const { next, effect, store, clock } = await overtaken();
    const own = (await effect()) as EffectRecord;
    const slow = Promise.withResolvers<unknown>();
    const second = next.job.once(
      "charge",
      7,
      charge(() => slow.promise),
    );
    await clock.settle();
    const rejection = { reason: "card_declined", message: "no funds" };
    const late = complete(job, "charge", own, { outcome: "rejected", rejection });
    expect(await store.inner.write(late)).toMatchObject({ kind: "refused" });
    expect(await effect()).toMatchObject({ state: "started", attempts: 2 });
    slow.resolve({ id: "ch_1" });
    expect(await second).toEqual({ id: "ch_1" });
  });

  test("parks the job when its successor was rejected: it has happened all the same", async () => {
    const { next, land, events, store } = await overtaken();
    const declined = charge(() => {
      throw new RejectedError("card_declined");
    });
    await thrownBy(next.job.once("charge", 7, declined));
    await land({ id: "ch_1" });
    const record = await store.inner.read(job);
    expect(record).toMatchObject({
      state: "parked",
      parked: { why: "applied-after-rejection", effect: "charge" },
      effects: { charge: { outcome: "rejected", lateResult: { json: '{"id":"ch_1"}' } } },
    });
    expect(events.map((event) => ("alarm" in event && event.alarm ? event.kind : ""))).toContain(
      "effect.applied-after-rejection",
    );
    expect(await next.job.end({ kind: "succeeded" })).toEqual({
      kind: "stopped",
      outcome: { kind: "parked" },
    });
  });

  test("silences the zombie once it is recorded", async () => {
    const { next, land, zombie, zombieEnded, store } = await overtaken();
    await land({ id: "ch_1" });
    // Nobody had taken the effect over yet: the nonce is still the zombie's.
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "done" });
    expect(await zombieEnded).toMatchObject({ code: "EFFECT_TIMEOUT" });
    await thrownBy(
      zombie.job.once(
        "other",
        7,
        charge(() => "sent"),
      ),
    );
    expect(zombie.job.outcome).toEqual({ kind: "fenced" });
    const again = charge(() => ({ id: "ch_2" }));
    expect(await next.job.once("charge", 7, again)).toEqual({ id: "ch_1" });
    expect(again.calls).toEqual([]);
  });

  test("marked last, finishes the effect but not a job that is not its own any more", async () => {
    const world = setup();
    const landing = Promise.withResolvers<unknown>();
    const first = await world.open();
    const asked = first.job.once(
      "charge",
      7,
      effectOf(() => landing.promise, { last: true }),
    );
    const outcome = thrownBy(asked);
    await world.clock.settle();
    await world.open({ receiveCount: 2 }, new TestLease(), world.ledgerOf("w-2"));
    landing.resolve({ id: "ch_1" });
    expect(await outcome).toMatchObject({ outcome: { kind: "fenced" } });
    expect(await world.store.inner.read(job)).toMatchObject({
      ...{ state: "open", epoch: 2, effects: { charge: { state: "done" } } },
    });
  });

  test("says aloud that its record is gone, restored from a backup for example", async () => {
    const { open, store, events, clock } = setup();
    const { job: opened } = await open();
    const gone = effectOf(async () => {
      store.inner = new MemoryLedgerStore();
      return { id: "ch_1" };
    });
    const asked = thrownBy(opened.once("charge", 7, gone));
    await clock.settle();
    expect(await asked).toMatchObject({ outcome: { kind: "fenced" } });
    expect(events).toContainEqual({
      ...{ kind: "effect.record-missing", job, effect: "charge", alarm: true },
    });
  });
});
