import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ManualClock } from "@leasehold/clock/manual";
import { resolveLeaseOptions } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { KeptLease } from "../kept-lease.ts";
import { SharedKeeper } from "../shared-keeper.ts";
import { newPage, type StoredTerm, TermSlot } from "../shared-term.ts";
import { SlotPool } from "../slot-pool.ts";

const at = (ms: number) => ({ monotonicMs: ms, wallMs: ms });
const term = (ms: number, rest: Partial<StoredTerm> = {}): StoredTerm => ({
  lastSentAt: at(ms),
  validUntil: at(ms),
  visibleBy: at(ms),
  verdict: "held",
  handlesAdopted: 0,
  ...rest,
});

/** One place, seen by the main thread and by the extender's. */
function setup() {
  const page = newPage();
  const near = new TermSlot(page, 5, 1);
  near.lend(term(60_000.25));
  return { page, near, far: new TermSlot(page, 5, 1) };
}

describe("TermSlot", () => {
  test("carries a term across, fractions, verdict and all", () => {
    const { near, far } = setup();
    expect(far.read()).toEqual(term(60_000.25));
    far.enter();
    far.write(term(80_000.125, { verdict: "refused", handlesAdopted: 7 }));

    expect(near.read()).toEqual(term(80_000.125, { verdict: "refused", handlesAdopted: 7 }));
    expect(near.read()).toBe(near.read());
  });

  test("lets no call leave once it is stopped, and tells whether one is out", () => {
    const { near, far } = setup();
    expect(far.enter()).toBe(true);
    expect(near.stop()).toBe(true);
    expect(near.stop()).toBe(true);
    expect(far.enter()).toBe(false);
    expect(far.leave()).toBe(true);
    expect(near.stop()).toBe(false);
    expect(far.enter()).toBe(false);
  });

  test("goes on after a call that nobody stopped", () => {
    const { near, far } = setup();
    far.enter();
    expect(far.leave()).toBe(false);
    expect(far.enter()).toBe(true);
    far.leave();
    expect(near.stop()).toBe(false);
  });

  test("does not let those in who knew a former lease of its place", () => {
    const { page, near, far } = setup();
    near.stop();
    const next = new TermSlot(page, 5, 2);
    next.lend(term(90_000));

    expect(far.enter()).toBe(false);
    expect(near.stop()).toBe(false);
    expect(new TermSlot(page, 5, 2).enter()).toBe(true);
    expect(far.leave()).toBe(false);
    expect(next.stop()).toBe(true);
  });

  test("never shows half of one term and half of another, while a thread writes as fast as it can", async () => {
    const { page, near } = setup();
    const program = `
      import { workerData } from "node:worker_threads";
      import { TermSlot } from ${JSON.stringify(import.meta.resolve("../shared-term.ts"))};
      const slot = new TermSlot(workerData.page, 5, 1);
      const at = (ms) => ({ monotonicMs: ms, wallMs: ms });
      for (let ms = 1; Atomics.load(workerData.enough, 0) === 0; ms += 1) {
        slot.write({ lastSentAt: at(ms), validUntil: at(ms), visibleBy: at(ms),
          verdict: "held", handlesAdopted: ms });
      }`;
    near.write(term(0));
    const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    // The writer goes on until enough was seen, however rarely this thread gets its turn.
    const enough = new Int32Array(new SharedArrayBuffer(4));
    const ended = once(new Worker(url, { workerData: { page, enough } }), "exit");
    let before = 0;
    let seen = 0;
    while (seen <= 100) {
      const { lastSentAt, validUntil, visibleBy, handlesAdopted } = near.read();
      const numbers = [lastSentAt, validUntil, visibleBy].flatMap((one) => Object.values(one));
      if (numbers.some((number) => number !== handlesAdopted) || handlesAdopted < before) {
        expect(numbers).toEqual(Array(6).fill(handlesAdopted));
        expect(handlesAdopted).toBeGreaterThanOrEqual(before);
      }
      if (handlesAdopted !== before) seen += 1;
      before = handlesAdopted;
    }
    Atomics.store(enough, 0, 1);
    await ended;
    expect(before).toBeGreaterThan(100);
  });
});

describe("SlotPool", () => {
  test("lends each place to one lease at a time, with a generation of its own", () => {
    const pages: SharedArrayBuffer[] = [];
    const pool = new SlotPool((page) => pages.push(page));
    const lent = Array.from({ length: 65 }, () => pool.lend(term(1)));
    expect(new Set(lent.map(({ place }) => place)).size).toBe(65);
    expect(pages).toHaveLength(2);
    const [first] = lent;
    if (first === undefined) throw new Error("nothing was lent");
    pool.giveBack(first);
    const again = pool.lend(term(2));

    expect(again.place).toBe(first.place);
    expect(again.generation).toBe(first.generation + 1);
    expect(first.slot.enter()).toBe(false);
    expect(again.slot.read()).toEqual(term(2));
  });
});

describe("a message that is received again while the thread extends it", () => {
  function received() {
    const { near, far } = setup();
    const clock = new ManualClock(0);
    const posted: unknown[] = [];
    const keeper = new SharedKeeper(near, (message) => posted.push(message));
    const kept = new KeptLease({
      id: 1,
      slot: far,
      clock,
      options: resolveLeaseOptions({}),
      posted: {
        ref: { queue: "jobs", messageId: "m-1", receiveCount: 1 },
        receiptHandle: "old",
        claimedAt: at(0),
        place: 5,
        generation: 1,
      },
    });
    far.enter();
    return { keeper, kept, posted };
  }

  test("is not over by a refusal of its former handle that crosses the news", () => {
    const { keeper, kept, posted } = received();
    kept.apply({ kind: "refused" });
    expect(keeper.read().verdict).toBe("refused");
    keeper.adopt("new", at(70_000));

    expect(keeper.read()).toMatchObject({ verdict: "held", visibleBy: at(70_000) });
    expect(posted).toEqual([{ kind: "adopt", receiptHandle: "new", visibleBy: at(70_000) }]);
    kept.adopt("new", at(70_000));
    expect(kept.isOpen).toBe(true);
    expect(kept.receiptHandle).toBe("new");
    kept.extendTo(at(20_000), 60_000);
    expect(keeper.read()).toMatchObject({
      verdict: "held",
      validUntil: at(79_000),
      visibleBy: at(70_000),
    });
  });

  test("is over when the newest handle is refused", () => {
    const { keeper, kept } = received();
    keeper.adopt("new", at(70_000));
    kept.adopt("new", at(70_000));
    kept.apply({ kind: "refused" });

    expect(kept.isOpen).toBe(false);
    expect(keeper.read().verdict).toBe("refused");
  });
});
