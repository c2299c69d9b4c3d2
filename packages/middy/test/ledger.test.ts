import { createLedger } from "@leasehold/idempotency";
import { type EffectCall, rerun } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { WatchedStore } from "../../../test/ledger/ledger-world.ts";
import { openSite } from "./lambda-site.ts";

/** A function whose job has one effect, by a ledger whose store a test can switch off. */
async function setup(run: (call: EffectCall) => Promise<unknown> = async () => "ch_1") {
  const store = new WatchedStore();
  const owners: string[] = [];
  const site = await openSite({
    openLedger: ({ requestId: workerId }) => {
      owners.push(workerId);
      const { clock } = site;
      const options = { longestPauseMs: 500 };
      return createLedger({
        ...{ store, clock, environment: "test", workerId, options, random: () => 0.5 },
      });
    },
    handler: ({ payload }, { once }) =>
      once("charge", { n: payload.n }, { timeoutMs: 5_000, recover: rerun(), run }),
  });
  return { site, store, owners };
}

describe("lambdaHandler with a job ledger", () => {
  test("has an effect happen once although a message is delivered twice", async () => {
    const charges: string[] = [];
    const { site, owners } = await setup(async ({ key }) => charges.push(key));
    await site.send(1);
    await site.invoke();
    await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(charges).toHaveLength(1);
    expect(site.heard("job.stopped")).toMatchObject([{ why: "done" }]);
    expect(owners).toEqual(["request-1", "request-2"]);
  });

  test("does not report a job as done whose sandbox was killed, and goes on with it in another", async () => {
    const charges: string[] = [];
    const { site } = await setup(async ({ key }) => charges.push(key));
    await site.send(1);
    // Lambda never gets the answer of this one, so it deletes nothing.
    const unheard = site.handler(await site.poller.take(), {
      awsRequestId: "killed",
      getRemainingTimeInMillis: () => 30_000,
    });
    await site.clock.advance(200_000);
    await unheard;
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(charges).toHaveLength(1);
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  test("does not begin an effect that cannot end before the invocation", async () => {
    const charges: string[] = [];
    const { site } = await setup(async ({ key }) => charges.push(key));
    const short = await openSite({
      openLedger: () =>
        createLedger({
          ...{ store: site.store, clock: short.clock, environment: "test", workerId: "w" },
        }),
      poller: { timeoutMs: 7_000 },
      handler: (_, { once }) =>
        once(
          "charge",
          {},
          {
            ...{ timeoutMs: 5_000, recover: rerun() },
            run: async ({ key }) => charges.push(key),
          },
        ),
    });
    const [id] = await short.send(1);
    expect(await short.invoke()).toMatchObject({ failures: [id] });
    expect(charges).toEqual([]);
    expect(short.heard("job.stopped")).toMatchObject([{ why: "draining" }]);
  });

  test("answers in time while the store is down, tells what it could not record, and does not report the job as done", async () => {
    const { site, store } = await setup(async () => {
      store.isDown = () => true;
      return "ch_1";
    });
    const [id] = await site.send(1);
    const ended = await site.invoke(30_000);
    expect(ended).toMatchObject({ kind: "answered", failures: [id] });
    expect(site.events.map(({ kind }) => kind)).toContain("ledger.store-failing");
    expect(site.heard("effect.completion-unrecorded")).toMatchObject([
      { effect: "charge", final: false },
      { effect: "charge", final: true },
    ]);
  });

  test("records an effect in the time that is left when its store comes back late", async () => {
    const { site, store } = await setup(async () => {
      store.isDown = () => site.clock.monotonicMs() < 28_100;
      return "ch_1";
    });
    await site.send(1);
    await site.invoke(30_000);
    expect(await store.recordOf(1)).toMatchObject({ effects: { charge: { state: "done" } } });
  });
});
