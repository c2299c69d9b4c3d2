/** What happens to every guard on the stage, and what Leasehold promises to come of it. */

import { setTimeout as pass } from "node:timers/promises";
import { type GuardStage, HIDDEN_MS, type MessageEnd } from "./guard-stage.ts";

/** How often the effect ran, and how its message ended. */
export interface ExpectedGuard {
  readonly effect_ran: number;
  readonly ended: MessageEnd;
  /** @defaultValue 0 */
  readonly alarms?: number;
}

/** One scenario; every guard plays it alone. */
export interface GuardScenario {
  readonly name: string;
  /** @defaultValue true */
  readonly tellsRemainingTime?: boolean;
  /** Guards to which it cannot happen, and why. */
  readonly notFor?: Readonly<Record<string, string>>;
  /** By policy. */
  readonly expected: Readonly<Record<"query" | "park", ExpectedGuard>>;
  readonly because: string;
  play(stage: GuardStage): Promise<unknown>;
}

const MESSAGE = "m-1";
const ONCE = { effect_ran: 1, ended: "done" } as const;
const ONCE_AND_PARKED = { effect_ran: 1, ended: "parked" } as const;
const NEVER_AND_PARKED = { effect_ran: 0, ended: "parked" } as const;
/** As often as the SDK asks DynamoDB by itself. */
const TRIES = [1, 2, 3, 4];
const HELD_UP_MS = 1_000;
const LATE_MS = 1_000;
const DUPLICATES = ["m-2", "m-3"];

async function consumeByOne(stage: GuardStage): Promise<void> {
  const worker = await stage.startWorker();
  await stage.consume(MESSAGE, () => worker);
}

/** The first worker is killed when it is about to send, and another one takes its place. */
async function killedBeforeSending(stage: GuardStage): Promise<void> {
  stage.beforeCall(1, (worker) => worker.kill());
  let worker = await stage.startWorker();
  let deliveries = 0;
  await stage.consume(MESSAGE, async () => {
    deliveries += 1;
    if (deliveries === 2) worker = await stage.startWorker();
    return worker;
  });
}

/** What the scenarios are, in the order of the table. */
export const guardScenarios: readonly GuardScenario[] = [
  {
    name: "throw after the effect",
    expected: { query: ONCE, park: ONCE_AND_PARKED },
    because: "what was thrown says nothing of the charge: the provider is asked, or a person",
    play: (stage) => {
      stage.loseReply(1);
      return consumeByOne(stage);
    },
  },
  {
    name: "throttled completion",
    expected: { query: ONCE, park: ONCE },
    because: "a completion is tried until the store has taken it",
    play: (stage) => {
      const rule = { fault: { kind: "throttle" }, actions: ["UpdateItem"], nth: TRIES } as const;
      stage.afterCharge(1, () => stage.disturb([rule]));
      return consumeByOne(stage);
    },
  },
  {
    name: "zombie before the call",
    expected: { query: ONCE, park: NEVER_AND_PARKED },
    because: "a worker looks at its lease and its deadline once more right before it sends",
    play: async (stage) => {
      // The start is recorded, and its answer is on the way to a process that stands still.
      const fault = { kind: "latency", side: "after", delayMs: HELD_UP_MS } as const;
      stage.disturb([{ fault, actions: ["PutItem"], nth: [1] }]);
      const zombie = await stage.startWorker();
      const asleep = stage.deliver(zombie, MESSAGE);
      await stage.firstWriteMade();
      zombie.pause();
      const successor = await stage.startWorker();
      await pass(HIDDEN_MS);
      await stage.consume(MESSAGE, () => successor);
      zombie.resume();
      await asleep;
    },
  },
  {
    name: "zombie within the call",
    expected: {
      query: { effect_ran: 2, ended: "done", alarms: 1 },
      park: ONCE_AND_PARKED,
    },
    because:
      "between the last look and the first byte nothing holds a process but a key of the provider's; it is told by an alarm",
    play: async (stage) => {
      const woken = Promise.withResolvers<void>();
      const paused = Promise.withResolvers<void>();
      stage.beforeCall(1, (worker) => {
        worker.pause();
        paused.resolve();
        return woken.promise;
      });
      const zombie = await stage.startWorker();
      const asleep = stage.deliver(zombie, MESSAGE);
      await paused.promise;
      const successor = await stage.startWorker();
      await pass(HIDDEN_MS);
      await stage.consume(MESSAGE, () => successor);
      zombie.resume();
      woken.resolve();
      await asleep;
      // A call that outlasts its time limit is left, and lands when nobody waits for it any more.
      await pass(LATE_MS);
    },
  },
  {
    name: "own write retried",
    expected: { query: ONCE, park: ONCE },
    because: "a refused write that is found as it would have made it was made",
    play: (stage) => {
      const fault = { kind: "reset", side: "after" } as const;
      stage.disturb([{ fault, actions: ["PutItem"], nth: [1] }]);
      stage.afterCharge(1, () => stage.disturb([{ fault, actions: ["UpdateItem"], nth: [1] }]));
      return consumeByOne(stage);
    },
  },
  {
    name: "worker killed before sending",
    expected: { query: ONCE, park: NEVER_AND_PARKED },
    because: "the next delivery takes over once the attempt's time has passed",
    play: killedBeforeSending,
  },
  {
    name: "missing remaining time",
    tellsRemainingTime: false,
    notFor: { "powertools middy": "a handler of middy is always given its context" },
    expected: { query: ONCE, park: NEVER_AND_PARKED },
    because:
      "an effect cannot be begun without a lease and a time limit, so each record has an end",
    play: killedBeforeSending,
  },
  {
    name: "rejected run",
    expected: { query: ONCE, park: ONCE },
    because: "who finds a job busy has written nothing and removes nothing",
    play: async (stage) => {
      const calling = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      stage.beforeCall(1, () => {
        calling.resolve();
        return goOn.promise;
      });
      const [first, second] = [await stage.startWorker(), await stage.startWorker()];
      const running = stage.consume(MESSAGE, () => first);
      await calling.promise;
      // Two more messages about the same job come while it is being worked on.
      for (const messageId of DUPLICATES) await stage.deliver(second, messageId);
      goOn.resolve();
      await running;
      for (const messageId of DUPLICATES) await stage.consume(messageId, () => second);
    },
  },
];
