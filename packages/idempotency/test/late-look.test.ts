import { ManualClock } from "@leasehold/clock/manual";
import { type Lookup, park, query, replay } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { createLedger } from "../index.ts";
import { effectOf, job, setup, TestLease, thrownBy } from "./ledger-setup.ts";

/** A worker that stood still between its last check and its send, and the one that took over. */
async function overtaken(found: () => Promise<Lookup<unknown>>) {
  const world = setup();
  // A process that stands still: its timers fire when it wakes.
  const stopped = new ManualClock();
  const ledger = createLedger({
    ...{ store: world.store, clock: stopped, environment: "test", workerId: "w-1" },
    onEvent: (event) => world.events.push(event),
  });
  const zombie = await world.open({}, new TestLease(), ledger);
  const recover = query(found);
  const ended = thrownBy(
    zombie.job.once(
      "charge",
      7,
      effectOf(() => new Promise(() => {}), { recover }),
    ),
  );
  await stopped.settle();
  await world.clock.advance(120_000);
  const next = await world.open({ receiveCount: 2 }, new TestLease(), world.ledgerOf("w-2"));
  const absent = query<unknown>(async () => ({ kind: "absent" }));
  const takeOver = (answer: () => unknown) =>
    next.job.once("charge", 7, effectOf(answer, { recover: absent }));
  const wake = async () => {
    await stopped.block(120_000);
    await stopped.advance(20_000);
    expect(await ended).toMatchObject({ code: "EFFECT_TIMEOUT" });
    await stopped.settle();
  };
  const effect = async () => (await world.store.inner.read(job))?.effects["charge"];
  const settle = () => stopped.advance(60_000);
  return { ...world, ledger, takeOver, wake, settle, effect };
}

const applied = (id: string) => async (): Promise<Lookup<unknown>> => ({
  kind: "applied",
  result: { id },
});

describe("an attempt that ended unknown before it was taken over", () => {
  test("was over when it said so, not at the deadline that it slept through", async () => {
    const { wake, effect } = await overtaken(async () => ({ kind: "absent" }));
    expect((await effect())?.deadlineAtMs).toBe(Date.UTC(2026, 0, 1, 0, 0, 13));
    await wake();
    expect(await effect()).toMatchObject({
      ...{ state: "unknown", attempts: 1 },
      deadlineAtMs: Date.UTC(2026, 0, 1, 0, 2),
    });
  });
});

describe("an attempt that ended unknown after it was taken over", () => {
  test("asks the provider, and raises an alarm when both have happened", async () => {
    const { takeOver, wake, events, effect } = await overtaken(applied("ch_1"));
    await takeOver(() => ({ id: "ch_2" }));
    await wake();
    expect(events).toContainEqual({
      ...{ kind: "effect.results-differ", job, effect: "charge", alarm: true },
    });
    expect((await effect())?.result).toEqual({ kind: "inline", json: '{"id":"ch_2"}' });
  });

  test("raises the alarm also when its successor is still at it", async () => {
    const { takeOver, wake, clock, kinds, effect } = await overtaken(applied("ch_1"));
    const slow = Promise.withResolvers<unknown>();
    const second = takeOver(() => slow.promise);
    await clock.settle();
    await wake();
    expect(await effect()).toMatchObject({ state: "done", late: true });
    slow.resolve({ id: "ch_2" });
    expect(await second).toEqual({ id: "ch_1" });
    expect(kinds()).toContain("effect.results-differ");
  });

  test("is silent when the provider knows of one alone", async () => {
    const { takeOver, wake, kinds } = await overtaken(applied("ch_2"));
    await takeOver(() => ({ id: "ch_2" }));
    await wake();
    expect(kinds()).not.toContain("effect.results-differ");
  });

  test("ends quietly when the provider cannot tell", async () => {
    const { takeOver, wake, kinds, effect } = await overtaken(async () => {
      throw new Error("503");
    });
    await takeOver(() => ({ id: "ch_2" }));
    await wake();
    expect(kinds()).not.toContain("effect.results-differ");
    expect(await effect()).toMatchObject({ state: "done", attempts: 2 });
  });

  test("asks again after the settle time, when its own has landed by then", async () => {
    let looks = 0;
    const { takeOver, wake, settle, kinds } = await overtaken(async () => {
      looks += 1;
      if (looks === 2) throw new Error("503");
      return { kind: "applied", result: { id: looks === 1 ? "ch_2" : "ch_1" } };
    });
    await takeOver(() => ({ id: "ch_2" }));
    await wake();
    expect([looks, kinds().includes("effect.results-differ")]).toEqual([1, false]);
    await settle();
    expect([looks, kinds().includes("effect.results-differ")]).toEqual([2, false]);
    await settle();
    expect([looks, kinds().includes("effect.results-differ")]).toEqual([3, true]);
    await settle();
    expect(looks).toBe(3);
  });

  test("asks no more once its process ends, which does not wait for that", async () => {
    let looks = 0;
    const { takeOver, wake, settle, ledger } = await overtaken(async () => {
      looks += 1;
      return { kind: "absent" };
    });
    await takeOver(() => ({ id: "ch_2" }));
    await wake();
    expect(ledger.unrecorded).toBe(0);
    await ledger.stop();
    await settle();
    expect(looks).toBe(1);
  });

  test("asks the provider, too, when the store does not say whether it was taken over", async () => {
    const { wake, store, kinds, takeOver } = await overtaken(applied("ch_1"));
    await takeOver(() => ({ id: "ch_2" }));
    store.fault = ({ name }) => (name === "unknown-effect" ? "refused" : undefined);
    await wake();
    expect(kinds()).toContain("effect.results-differ");
  });

  test("asks nobody while the attempt is still its own", async () => {
    const { open } = setup();
    let asked = 0;
    const lookup = query<unknown>(async () => {
      asked += 1;
      return { kind: "absent" };
    });
    const recover = replay<unknown>({ windowMs: 3_600_000, after: lookup });
    const first = await open();
    const lost = () => Promise.reject(new Error("socket hang up"));
    await thrownBy(first.job.once("charge", 7, effectOf(lost, { recover })));
    await thrownBy(first.job.once("receipt", 7, effectOf(lost, { recover: park() })));
    expect(asked).toBe(0);
  });
});
