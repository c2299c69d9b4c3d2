import { ManualClock } from "@leasehold/clock/manual";
import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { LedgerEvent } from "../index.ts";
import { resolveLedgerOptions } from "../options.ts";
import { type GatePass, ProviderGates } from "../provider-gate.ts";

function setup(options: Parameters<typeof resolveLedgerOptions>[0] = {}, random = 0) {
  const clock = new ManualClock();
  const events: LedgerEvent[] = [];
  const gates = new ProviderGates({
    clock,
    options: resolveLedgerOptions(options),
    random: () => random,
    emit: (event) => events.push(event),
  });
  const startedAtMs = clock.wallMs();
  const enter = (jobId = "job-1", { effect = "charge", receiveCount = 1 } = {}) =>
    gates.enter({
      job: {
        tenantId: parseTenantId("acme"),
        jobType: parseJobType("payment.capture"),
        jobId: parseJobId(jobId),
      },
      ...{ effect, receiveCount },
    });
  const pass = (jobId?: string, more?: Parameters<typeof enter>[1]): GatePass => {
    const answer = enter(jobId, more);
    if (answer.kind === "held") throw new Error(`held until ${answer.retryAtMs - startedAtMs}`);
    return answer.pass;
  };
  /** How long from now; `undefined` when it passes. */
  const heldForMs = (jobId?: string, more?: Parameters<typeof enter>[1]): number | undefined => {
    const answer = enter(jobId, more);
    return answer.kind === "held" ? answer.retryAtMs - clock.wallMs() : undefined;
  };
  const fail = (count: number) => {
    for (let n = 1; n <= count; n += 1) pass(`failing-${n}`).tell({ kind: "down" });
  };
  return { clock, events, enter, pass, heldForMs, fail };
}

describe("a gate before a provider", () => {
  test("lets all pass as long as failures are not on end", () => {
    const { fail, pass, heldForMs, events } = setup();
    fail(2);
    pass().tell({ kind: "answered" });
    fail(2);
    expect(heldForMs()).toBeUndefined();
    expect(events).toEqual([]);
  });

  test("holds all back after three failures on end, and tells whose they were", () => {
    const { fail, heldForMs, events } = setup();
    fail(3);
    expect(heldForMs("job-9")).toBe(5_000);
    expect(events).toMatchObject([
      { kind: "effect.circuit-opened", effect: "charge", pauseMs: 5_000, outageMs: 0 },
    ]);
    expect(events[0]?.job).toMatchObject({ tenantId: "acme", jobId: "failing-3" });
  });

  test("calls no failure of an outage a job's own, not even those before it opened", () => {
    const { pass, clock } = setup();
    const late = pass("late");
    const told = [1, 2, 3].map(() => pass().tell({ kind: "down" }));
    const held = { kind: "held", retryAtMs: clock.wallMs() + 5_000 };
    expect(told).toEqual([{ kind: "provider" }, { kind: "provider" }, held]);
    expect(late.tell({ kind: "down" })).toEqual(held);
  });

  test("calls it a job's own when others were answered between two failures of that job", async () => {
    const { pass, clock } = setup();
    const fails = (jobId: string) => pass(jobId).tell({ kind: "down" }).kind;
    expect(fails("bad")).toBe("provider");
    await clock.advance(1);
    pass("good").tell({ kind: "answered" });
    await clock.advance(1);
    expect(fails("unlucky")).toBe("provider");
    expect(fails("bad")).toBe("job");
    pass("bad").tell({ kind: "answered" });
    await clock.advance(1);
    expect(fails("bad")).toBe("provider");
  });

  test("does not open for calls that began before another was answered", async () => {
    const { pass, heldForMs, events, clock } = setup();
    const slow = [1, 2, 3, 4].map((n) => pass(`slow-${n}`));
    await clock.advance(1_000);
    pass("probe").tell({ kind: "answered" });
    await clock.advance(24_000);
    for (const call of slow) expect(call.tell({ kind: "down" })).toEqual({ kind: "provider" });
    expect(heldForMs("other")).toBeUndefined();
    expect(events).toEqual([]);
  });

  test("lets one probe pass when the pause is over, and the rest once it was answered", async () => {
    const { fail, pass, heldForMs, clock, events } = setup();
    fail(3);
    await clock.advance(5_000);
    const probe = pass("probe");
    expect(events.at(-1)).toMatchObject({ kind: "effect.circuit-probed", job: { jobId: "probe" } });
    expect(heldForMs("other")).toBe(5_000);
    await clock.advance(300);
    probe.tell({ kind: "answered" });
    probe.leave();
    expect(heldForMs("other")).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ kind: "effect.circuit-closed", outageMs: 5_300 });
  });

  test("doubles the pause each time a probe fails, up to a minute", async () => {
    const { fail, pass, clock, events } = setup();
    fail(3);
    for (let round = 0; round < 6; round += 1) {
      await clock.advance(60_000);
      const probe = pass("probe");
      probe.tell({ kind: "down" });
      probe.leave();
    }
    const pauses = events.flatMap((event) => ("pauseMs" in event ? [event.pauseMs] : []));
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  test("lets the next one probe when a probe comes to nothing", async () => {
    const { fail, pass, clock } = setup();
    fail(3);
    await clock.advance(5_000);
    pass("probe that loses its lease").leave();
    expect(() => pass("next")).not.toThrow();
  });

  test("does not take a late success of an older call for nothing: the provider is back", () => {
    const { fail, pass, heldForMs } = setup();
    const slow = pass("slow");
    fail(3);
    slow.tell({ kind: "answered" });
    expect(heldForMs()).toBeUndefined();
  });

  test("holds a job longer each time that it was delivered for nothing, up to ten minutes", () => {
    const { fail, heldForMs } = setup();
    fail(3);
    const holds = [1, 5, 7, 11, 90].map((receiveCount) => heldForMs("job", { receiveCount }));
    expect(holds).toEqual([5_000, 16_000, 64_000, 600_000, 600_000]);
  });

  test("spreads those who come back over a fifth of their wait", () => {
    const { fail, heldForMs } = setup({}, 0.999);
    fail(3);
    expect(heldForMs()).toBe(5_999);
  });

  test("is one gate for each effect", () => {
    const { fail, heldForMs } = setup();
    fail(3);
    expect(heldForMs("job-1", { effect: "refund" })).toBeUndefined();
  });

  test("stands open when it is told to", () => {
    const { fail, pass } = setup({ circuitFailures: 0 });
    fail(50);
    expect(pass().tell({ kind: "down" })).toEqual({ kind: "job" });
  });

  test("forgives no more once an outage has lasted half a day", async () => {
    const { fail, pass, clock } = setup();
    fail(3);
    await clock.advance(12 * 3_600_000 - 1);
    const nearly = pass();
    const retryAtMs = clock.wallMs() + 10_000;
    expect(nearly.tell({ kind: "down" })).toEqual({ kind: "held", retryAtMs });
    nearly.leave();
    await clock.advance(60_000);
    expect(pass().tell({ kind: "down" })).toEqual({ kind: "job" });
  });

  test("keeps quiet for as long as the provider asks, and no longer", async () => {
    const { pass, heldForMs, clock, events } = setup();
    const blame = pass().tell({ kind: "rate-limited", retryAfterMs: 30_000 });
    expect(blame).toEqual({ kind: "held", retryAtMs: clock.wallMs() + 30_000 });
    await clock.advance(20_000);
    expect(heldForMs("other")).toBe(10_000);
    await clock.advance(9_999);
    expect(heldForMs("other")).toBe(1_000);
    await clock.advance(1);
    expect(heldForMs("other")).toBeUndefined();
    expect(events).toMatchObject([{ kind: "effect.rate-limited", retryAfterMs: 30_000 }]);
  });

  test("lets a job that is limited again and again come back ever later", () => {
    const { pass, heldForMs, clock } = setup();
    const limited = pass("job", { receiveCount: 7 });
    const blame = limited.tell({ kind: "rate-limited", retryAfterMs: 1_000 });
    expect(blame).toEqual({ kind: "held", retryAtMs: clock.wallMs() + 64_000 });
    expect(heldForMs("job", { receiveCount: 9 })).toBe(256_000);
  });

  test.each([86_400_000, Number.POSITIVE_INFINITY])(
    "grants a provider that asks for %d ms an hour",
    (retryAfterMs) => {
      const { pass, heldForMs, events } = setup();
      pass().tell({ kind: "rate-limited", retryAfterMs });
      expect(heldForMs("other")).toBe(3_600_000);
      expect(events).toMatchObject([{ retryAfterMs: 3_600_000 }]);
    },
  );

  test("takes a limit of the rate for an answer: who limits is not down", async () => {
    const { fail, pass, clock, heldForMs } = setup();
    fail(3);
    await clock.advance(5_000);
    pass("probe").tell({ kind: "rate-limited", retryAfterMs: 1_000 });
    await clock.advance(1_000);
    expect(heldForMs("one")).toBeUndefined();
    expect(heldForMs("two")).toBeUndefined();
  });
});
