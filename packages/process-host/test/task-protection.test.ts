import { ManualClock } from "@leasehold/clock/manual";
import type { Worker, WorkerEvent } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import { protectTask, type TaskProtectionOptions, type TaskProtectionReport } from "../index.ts";
import { startEcsAgent } from "./ecs-agent-stand-in.ts";

const SET = 'PUT {"ProtectionEnabled":true,"ExpiresInMinutes":3}';
const CLEAR = 'PUT {"ProtectionEnabled":false}';
const expiresAt = "2026-01-01T01:02:03.456Z";

type Reported = Parameters<Parameters<Worker["onEvent"]>[0]>[0];

/** A worker that only says what it is told to say. */
function speaker() {
  let listener: ((event: WorkerEvent) => void) | undefined;
  const worker: Pick<Worker, "onEvent"> = {
    onEvent: (given) => {
      listener = given;
      return () => {
        listener = undefined;
      };
    },
  };
  const refs = new Map<string, { queue: string; messageId: string; receiveCount: number }>();
  const refOf = (messageId: string) => {
    const ref = refs.get(messageId) ?? { queue: "jobs", messageId, receiveCount: 1 };
    refs.set(messageId, ref);
    return ref;
  };
  const say = (event: Reported) => listener?.(event);
  return {
    worker,
    claim: (id: string) =>
      say({ kind: "lease.claimed", lease: refOf(id), remainingMs: 60_000, ageMs: 5 }),
    ack: (id: string) => say({ kind: "lease.acked", lease: refOf(id), heldMs: 10 }),
    lose: (id: string) =>
      say({ kind: "lease.lost", lease: refOf(id), cause: "expired", during: "held" }),
    drain: () =>
      say({
        ...{ kind: "drain.started", cause: { kind: "request", by: "a test" } },
        ...{ inFlight: 1, openPolls: 1, drainByMs: 0, killAtMs: 0 },
      }),
    get isHeard() {
      return listener !== undefined;
    },
  };
}

async function setup(options: Partial<TaskProtectionOptions> = {}) {
  const agent = await startEcsAgent();
  const clock = new ManualClock();
  const reports: TaskProtectionReport[] = [];
  const says = speaker();
  const protection = protectTask(says.worker, {
    ...{ agentUri: agent.uri, minutes: 3, clock },
    onReport: (report) => void reports.push(report),
    ...options,
  });
  const reported = async (count: number) => {
    while (reports.length < count) await new Promise((resolve) => setImmediate(resolve));
    await clock.settle();
  };
  return {
    ...{ agent, clock, reports, says, protection, reported },
    async [Symbol.asyncDispose]() {
      protection.close();
      await agent[Symbol.asyncDispose]();
    },
  };
}

describe("protectTask", () => {
  test("protects the task with the first lease, and asks once for all of them", async () => {
    await using s = await setup();

    s.says.claim("a");
    s.says.claim("b");
    await s.reported(1);
    s.says.claim("c");
    await s.clock.advance(60_000);

    expect(s.agent.bodies).toEqual([SET]);
    expect(s.reports).toEqual([{ kind: "protection.set", why: "busy", minutes: 3, expiresAt }]);
    expect(s.agent.state.isProtected).toBe(true);
  });

  test("gives protection up when nothing was held for 15 s", async () => {
    await using s = await setup();
    s.says.claim("a");
    s.says.claim("b");
    await s.reported(1);

    s.says.ack("a");
    s.says.lose("b");
    await s.clock.advance(14_999);
    expect(s.agent.bodies).toEqual([SET]);
    await s.clock.advance(1);
    await s.reported(2);

    expect(s.reports[1]).toEqual({ kind: "protection.cleared", why: "idle" });
    expect(s.agent.state.isProtected).toBe(false);
    expect(s.clock.pendingTimers).toBe(0);
  });

  test("does not call for each of many short jobs", async () => {
    await using s = await setup();

    for (let job = 0; job < 50; job += 1) {
      s.says.claim(`job ${job}`);
      if (job === 0) await s.reported(1);
      s.says.ack(`job ${job}`);
      await s.clock.advance(1_000);
    }

    expect(s.agent.bodies).toEqual([SET]);
  });

  test("renews protection at half its time for as long as a lease is held", async () => {
    await using s = await setup();
    s.says.claim("a");
    await s.reported(1);

    await s.clock.advance(90_000);
    await s.reported(2);
    await s.clock.advance(90_000);
    await s.reported(3);

    expect(s.reports.map((report) => report.why)).toEqual(["busy", "renewal", "renewal"]);
    expect(s.agent.bodies).toEqual([SET, SET, SET]);
  });

  test("gives protection up at the first tick of a drain, although a lease is held", async () => {
    await using s = await setup();
    s.says.claim("a");
    await s.reported(1);

    s.says.drain();
    await s.reported(2);
    s.says.ack("a");
    await s.clock.advance(600_000);

    expect(s.reports[1]).toEqual({ kind: "protection.cleared", why: "drain" });
    expect(s.agent.bodies).toEqual([SET, CLEAR]);
  });

  test("asks for nothing when a worker drains that has held nothing", async () => {
    await using s = await setup();

    s.says.drain();
    await s.clock.advance(600_000);

    expect(s.agent.bodies).toEqual([]);
  });

  test("has one call in flight, and what is wanted when it ends decides the next one", async () => {
    await using s = await setup();
    s.agent.state.mood = "hang";
    s.says.claim("a");
    await s.agent.heard(1);
    s.says.ack("a");
    s.says.claim("b");
    s.says.drain();
    await s.clock.settle();
    expect(s.agent.bodies).toEqual([SET]);

    s.agent.state.mood = "ok";
    await s.clock.advance(2_000);
    await s.reported(1);
    await s.clock.advance(2_000);
    await s.reported(2);

    expect(s.agent.bodies).toEqual([SET, CLEAR]);
    expect(s.agent.state.mostOpen).toBe(1);
    expect(s.agent.state.isProtected).toBe(false);
  });

  test("gives a call up after two seconds and tries again (robosystems PR 738)", async () => {
    await using s = await setup();
    s.agent.state.mood = "hang";
    s.says.claim("a");
    await s.agent.heard(1);
    await s.clock.advance(1_999);
    expect(s.reports).toEqual([]);
    await s.clock.advance(1);
    await s.reported(1);
    s.agent.state.mood = "ok";
    await s.clock.advance(2_000);
    await s.reported(2);

    expect(s.reports).toEqual([
      {
        ...{ kind: "protection.failed", wanted: "set", why: "busy", retryInMs: 2_000 },
        ...{ code: "TIMEOUT", message: "no answer in time" },
      },
      { kind: "protection.set", why: "busy", minutes: 3, expiresAt },
    ]);
  });

  test("never stops trying, with pauses that grow to a minute (robosystems PR 738)", async () => {
    await using s = await setup();
    s.agent.state.mood = "failure";
    s.says.claim("a");
    const pauses: (number | undefined)[] = [];
    for (let call = 1; call <= 8; call += 1) {
      await s.reported(call);
      const report = s.reports.at(-1);
      const pauseMs = report?.kind === "protection.failed" ? report.retryInMs : 0;
      pauses.push(pauseMs);
      await s.clock.advance(pauseMs - 1);
      expect(s.agent.bodies).toHaveLength(call);
      if (call === 8) s.agent.state.mood = "ok";
      await s.clock.advance(1);
    }
    await s.reported(9);

    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(s.reports[8]).toMatchObject({ kind: "protection.set", why: "busy" });
  });

  test("asks again in a drain without the pause that has grown", async () => {
    await using s = await setup();
    s.says.claim("a");
    await s.reported(1);
    s.agent.state.mood = "reset";
    await s.clock.advance(90_000);
    for (const [count, pauseMs] of [
      [2, 2_000],
      [3, 4_000],
      [4, 8_000],
    ] as const) {
      await s.reported(count);
      await s.clock.advance(pauseMs);
    }
    await s.reported(5);

    s.says.drain();
    await s.clock.advance(2_000);
    await s.reported(6);
    s.agent.state.mood = "ok";
    await s.clock.advance(2_000);
    await s.reported(7);

    expect(s.reports[4]).toMatchObject({ wanted: "set", retryInMs: 16_000 });
    expect(s.reports[5]).toMatchObject({ wanted: "clear", retryInMs: 2_000 });
    expect(s.reports[6]).toEqual({ kind: "protection.cleared", why: "drain" });
  });

  test("clears what a lost answer may have set", async () => {
    await using s = await setup();
    s.agent.state.mood = "lost-answer";
    s.says.claim("a");
    await s.reported(1);
    expect(s.agent.state.isProtected).toBe(true);
    s.agent.state.mood = "ok";
    s.says.ack("a");
    await s.clock.advance(15_000);
    await s.reported(2);

    expect(s.agent.bodies).toEqual([SET, CLEAR]);
    expect(s.agent.state.isProtected).toBe(false);
  });

  test("sets again what a lost answer may have cleared", async () => {
    await using s = await setup();
    s.says.claim("a");
    await s.reported(1);
    s.says.ack("a");
    s.agent.state.mood = "lost-answer";
    await s.clock.advance(15_000);
    await s.reported(2);
    expect(s.agent.state.isProtected).toBe(false);
    s.agent.state.mood = "ok";
    s.says.claim("b");
    await s.clock.advance(2_000);
    await s.reported(3);

    expect(s.agent.bodies).toEqual([SET, CLEAR, SET]);
    expect(s.agent.state.isProtected).toBe(true);
  });

  test("lets a worker that is never idle go without protection for a minute in every hour", async () => {
    await using s = await setup({ minutes: 60 });
    s.says.claim("a");
    await s.reported(1);
    await s.clock.advance(1_800_000);
    await s.reported(2);
    await s.clock.advance(1_800_000);
    await s.reported(3);
    expect(s.agent.state.isProtected).toBe(false);
    await s.clock.advance(59_999);
    expect(s.reports).toHaveLength(3);
    await s.clock.advance(1);
    await s.reported(4);

    expect(s.reports.map((report) => report.why)).toEqual(["busy", "renewal", "breather", "busy"]);
    expect(s.agent.state.isProtected).toBe(true);
  });

  test("needs no breather when it was idle meanwhile", async () => {
    await using s = await setup({ minutes: 2_880, breatherEveryMs: 100_000 });
    s.says.claim("a");
    await s.reported(1);
    await s.clock.advance(80_000);
    s.says.ack("a");
    await s.clock.advance(15_000);
    await s.reported(2);
    s.says.claim("b");
    await s.reported(3);
    await s.clock.advance(99_000);

    expect(s.reports.map((report) => report.why)).toEqual(["busy", "idle", "busy"]);
  });

  test("goes on after a listener that throws, and leaves nothing behind when closed", async () => {
    let calls = 0;
    await using s = await setup({
      onReport: () => {
        calls += 1;
        throw new Error("a listener's fault");
      },
    });
    s.says.claim("a");
    while (calls < 1) await s.clock.settle();
    s.agent.state.mood = "hang";
    await s.clock.advance(90_000);
    await s.agent.heard(2);

    s.protection.close();
    await s.clock.settle();
    while (s.agent.state.open > 0) await s.clock.settle();

    expect(calls).toBe(1);
    expect(s.says.isHeard).toBe(false);
    expect(s.clock.pendingTimers).toBe(0);
  });
});
