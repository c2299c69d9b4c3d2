import { park } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { charge, type LedgerWorld, openLedgerWorld } from "./ledger-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };
const SIGTERM = { kind: "signal", signal: "SIGTERM" } as const;

describe("a store that does not answer", () => {
  test("before an effect lets nothing happen and nothing be counted, and stops claims until it is back", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) => once("charge", {}, { ...charge(world), last: true }),
    });
    world.store.isDown = () => true;
    await world.send();
    await world.clock.advance(4_000);
    expect(world.charges).toEqual([]);
    expect(world.heard("job.stopped")).toMatchObject([{ why: "store-down", during: "run" }]);
    expect(world.heard("claim.ledger-down")).toMatchObject([
      { retryInMs: 1_000 },
      { retryInMs: 2_000 },
    ]);

    // A poll that was open when the ledger went down is left to end.
    await world.clock.advance(3_000);
    await world.send(1, 2);
    await world.clock.advance(40_000);
    const { health } = world.worker.snapshot();
    expect(health).toMatchObject({ ready: true, alive: true });
    expect(health.reasons).toEqual([expect.stringContaining("nothing is claimed")]);
    expect(world.heard("lease.claimed")).toHaveLength(1);

    world.store.isDown = () => false;
    await world.clock.advance(60_000);
    expect(world.heard("claim.ledger-back")).toHaveLength(1);
    expect(world.worker.snapshot().health.reasons).toEqual([]);
    expect(world.charges).toHaveLength(2);
    expect(world.heard("job.ended").map(({ outcome }) => outcome)).toEqual([
      "stopped",
      "succeeded",
      "succeeded",
    ]);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done", failures: 0 });
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("after an effect keeps its message from being acked until it is recorded", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) => once("charge", {}, charge(world)),
    });
    world.store.isDown = (write) => write?.name === "complete";
    await world.send();
    await world.clock.advance(30_000);
    expect(world.heard("lease.acked")).toEqual([]);
    expect(world.heard("effect.completion-unrecorded")).toMatchObject([
      { job: { tenantId: "acme", jobId: "job-1" }, reference: "ch_1", final: false },
    ]);
    world.store.isDown = () => false;
    await world.clock.advance(10_000);
    const writes = world.store.writes.filter((name) => name !== "heartbeat");
    expect(writes).toEqual(["open-new", "complete", "finish"]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("at the end of a job, however often, is not taken for the death of its worker", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) => once("charge", {}, charge(world)),
    });
    world.store.isDown = (write) => write?.name === "finish";
    await world.send();
    await world.clock.advance(180_000);
    expect(world.heard("job.started").length).toBeGreaterThan(5);
    expect(world.heard("lease.dead-lettered")).toEqual([]);
    const { starts = 0, endings = 0 } = (await world.store.recordOf(1)) ?? {};
    // One is under way.
    expect([starts, starts - endings]).toEqual([6, 1]);
    world.store.isDown = () => false;
    await world.clock.advance(120_000);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done", failures: 0 });
    expect([world.charges.length, world.queue.counts()]).toEqual([1, NOTHING_LEFT]);
  });

  test("after an effect holds a drain no longer than its flush deadline, and is told of at the end", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) => once("charge", {}, charge(world)),
    });
    world.store.isDown = (write) => write?.name === "complete" || write?.name === "end";
    await world.send();
    await world.clock.advance(1_000);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(14_000);
    const report = await ended;
    expect(report.unfinished).toMatchObject([{ disposal: "released", started: true }]);
    expect(world.heard("lease.acked")).toEqual([]);
    expect(world.heard("effect.completion-unrecorded").at(-1)).toMatchObject({
      final: true,
      alarm: true,
      reference: "ch_1",
    });
    const kinds = world.events.map(({ kind }) => kind);
    expect(kinds.lastIndexOf("effect.completion-unrecorded")).toBeLessThan(
      kinds.indexOf("drain.finished"),
    );
    expect(report.endedAtMs - report.startedAtMs).toBeLessThan(13_000);
  });
});

describe("a drain", () => {
  test("begins no effect that cannot end before its deadline, and gives the job back uncounted", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: async (_, { once, draining }) => {
        await new Promise((resolve) => draining.addEventListener("abort", resolve));
        await once("charge", {}, charge(world, { timeoutMs: 7_000 }));
      },
    });
    await world.send();
    await world.clock.advance(500);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(3_000);
    expect(await ended).toMatchObject({ unfinished: [{ disposal: "released", started: true }] });
    expect(world.heard("job.stopped")).toMatchObject([{ why: "draining", delayMs: 0 }]);
    expect([world.charges, world.store.writes]).toEqual([[], []]);
  });

  test("gives a job back until its effect of unknown outcome has settled", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) =>
        once(
          "charge",
          {},
          charge(world, {
            timeoutMs: 30_000,
            recover: park(),
            run: ({ signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener("abort", () => reject(new Error("aborted")));
              }),
          }),
        ),
    });
    await world.send();
    await world.clock.advance(500);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(14_000);
    const { unfinished } = await ended;
    const [job] = unfinished;
    const record = await world.store.recordOf(1);
    const deadlineAtMs = record?.effects["charge"]?.deadlineAtMs ?? 0;
    expect(job).toMatchObject({ disposal: "released", started: true });
    // A settle time of 60 s and the clocks' skew of 5 s after the deadline.
    expect(job?.visibleByMs).toBeGreaterThanOrEqual(deadlineAtMs + 65_000);
    expect(record).toMatchObject({ interruptions: 1, failures: 0 });
  });
});
