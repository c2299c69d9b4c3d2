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

  test("calls the failure that opened it, and later ones, nobody's; earlier ones are their job's", () => {
    const { pass, clock } = setup();
    const late = pass("late");
    const told = [1, 2, 3].map(() => pass().tell({ kind: "down" }));
    expect(told).toEqual([undefined, undefined, clock.wallMs() + 5_000]);
    expect(late.tell({ kind: "down" })).toBe(clock.wallMs() + 5_000);
  });

  test("lets one probe pass when the pause is over, and the rest once it was answered", async () => {
    const { fail, pass, heldForMs, clock, events } = setup();
    fail(3);
    await clock.advance(5_000);
    const probe = pass("probe");
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
    const pauses = events.map((event) => "pauseMs" in event && event.pauseMs);
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
    expect(pass().tell({ kind: "down" })).toBeUndefined();
  });

  test("forgives no more once an outage has lasted half a day", async () => {
    const { fail, pass, clock } = setup();
    fail(3);
    await clock.advance(12 * 3_600_000 - 1);
    const nearly = pass();
    expect(nearly.tell({ kind: "down" })).toBe(clock.wallMs() + 10_000);
    nearly.leave();
    await clock.advance(60_000);
    expect(pass().tell({ kind: "down" })).toBeUndefined();
  });

  test("keeps quiet for as long as the provider asks, and no longer", async () => {
    const { pass, heldForMs, clock, events } = setup();
    const hasToComeBackAtMs = pass().tell({ kind: "rate-limited", retryAfterMs: 30_000 });
    expect(hasToComeBackAtMs).toBe(clock.wallMs() + 30_000);
    await clock.advance(29_999);
    expect(heldForMs("other")).toBe(1);
    await clock.advance(1);
    expect(heldForMs("other")).toBeUndefined();
    expect(events).toMatchObject([{ kind: "effect.rate-limited", retryAfterMs: 30_000 }]);
  });

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
