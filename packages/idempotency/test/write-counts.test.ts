import { describe, expect, test } from "vitest";
import { effectOf, job, setup, TestLease } from "./ledger-setup.ts";

const ok = () => ({ id: "ch_1" });

describe("the ledger's writes", () => {
  test("are none for a job without effects that succeeds at first", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await opened.heartbeat(0);
    expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    expect(store.writes).toEqual([]);
    // The heartbeat of a job that runs for so long: an operator may have cancelled it.
    expect(store.reads).toBe(1);
  });

  test("are two for a job with one effect that is its last", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    expect(await opened.once("charge", 7, effectOf(ok, { last: true }))).toEqual({ id: "ch_1" });
    expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    expect(store.writes).toEqual(["open-new", "complete-and-finish"]);
    expect(await store.inner.read(job)).toMatchObject({ state: "done" });
  });

  test("are two for each effect and one for the end", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    for (const name of ["a", "b", "c"]) await opened.once(name, 7, effectOf(ok));
    await opened.end({ kind: "succeeded" });
    expect(store.writes).toEqual([
      ...["open-new", "complete"],
      ...["start", "complete"],
      ...["start", "complete"],
      "finish",
    ]);
  });

  test("are two for each effect when the last one says so", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await opened.once("a", 7, effectOf(ok));
    await opened.once("b", 7, effectOf(ok));
    await opened.once("c", 7, effectOf(ok, { last: true }));
    await opened.end({ kind: "succeeded" });
    expect(store.writes).toHaveLength(6);
    expect(store.writes.at(-1)).toBe("complete-and-finish");
  });

  test("are one refused request for a duplicate of a done job, seen early or late", async () => {
    const { open, store } = setup();
    const first = await open();
    await first.job.once("charge", 7, effectOf(ok, { last: true }));
    store.writes.length = 0;

    const guarded = await open({ messageId: "m-2", guard: true });
    expect(guarded.opening).toEqual({ kind: "done" });
    expect(store.writes).toEqual(["open-new"]);

    store.writes.length = 0;
    const lazy = await open({ messageId: "m-3" });
    await expect(lazy.job.once("charge", 7, effectOf(ok))).rejects.toMatchObject({
      outcome: { kind: "done" },
    });
    expect(store.writes).toEqual(["open-new"]);
    expect(store.reads).toBe(0);
  });

  test("are none for a finished effect that is asked for again", async () => {
    const { open, store, ledgerOf } = setup();
    const first = await open();
    await first.job.once("charge", 7, effectOf(ok));
    const again = effectOf(ok);
    expect(await first.job.once("charge", 7, again)).toEqual({ id: "ch_1" });
    expect(store.writes).toEqual(["open-new", "complete"]);

    store.writes.length = 0;
    const second = await open({ receiveCount: 2 }, new TestLease(), ledgerOf("w-2"));
    expect(await second.job.once("charge", 7, again)).toEqual({ id: "ch_1" });
    expect(store.writes).toEqual(["open-new", "open-next"]);
    expect(again.calls).toEqual([]);
  });

  test("are one for each extension of a job that has a record, and none for one that has not", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await opened.heartbeat(1);
    expect(store.writes).toEqual([]);
    await opened.once("charge", 7, effectOf(ok));
    await opened.heartbeat(2);
    expect(store.writes).toEqual(["open-new", "complete", "heartbeat"]);
  });

  test("are one for a job that fails at first", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    await opened.end({ kind: "failed" });
    expect(store.writes).toEqual(["end"]);
    const next = await open({ receiveCount: 2 });
    expect(next.job.history).toEqual({ failures: 1, interruptions: 0, crashes: 0, putOffs: 0 });
  });
});
