/** The stage on which a guard is played with: a store behind faults, workers, a provider, a queue. */

import { setTimeout as pass } from "node:timers/promises";
import { type FaultPlan, type FaultProxy, startFaultProxy } from "@leasehold/local-aws";
import { type GuardTables, openGuardTables } from "./guard-tables.ts";
import { GuardWorker, type GuardWorld } from "./guard-worker.ts";
import type { Charge, GuardAnswer } from "./guards.ts";

/** How long a delivery may take, as its guard is told. */
const LEASE_MS = 2_000;
/** How long the queue hides it: longer, as AWS advises, so that no redelivery comes a moment early. */
export const HIDDEN_MS = 2_500;
/** After that many receives the queue gives a message to the dead letters. */
const MOST_RECEIVES = 4;
const JOB_ID = "invoice-7";

/** How a message ended. */
export type MessageEnd = "done" | "parked" | "dead-lettered";

/** What became of a job. */
export interface GuardFigures {
  /** How often the provider charged. */
  readonly effect_ran: number;
  /** Deliveries of all messages of the job. */
  readonly deliveries: number;
  /** The worst end of its messages. */
  readonly ended: MessageEnd;
  readonly alarms: number;
}

/** A guard and its stage. */
export interface GuardStageArguments {
  readonly library: string;
  /** @defaultValue true */
  readonly tellsRemainingTime?: boolean;
}

/** Meets the nth charge that a worker is about to send, or that was made. */
type ChargeHook = (worker: GuardWorker) => Promise<unknown> | unknown;

/** One stage for one library. */
export class GuardStage implements AsyncDisposable {
  readonly #tables: GuardTables;
  readonly #proxy: FaultProxy;
  readonly #args: GuardStageArguments;
  readonly #workers: GuardWorker[] = [];
  readonly #charges: Charge[] = [];
  readonly #ends: MessageEnd[] = [];
  readonly #receives = new Map<string, number>();
  #calls = 0;
  #onCall = new Map<number, ChargeHook>();
  #onCharge = new Map<number, ChargeHook>();
  #lostReplies = new Set<number>();

  private constructor(tables: GuardTables, proxy: FaultProxy, args: GuardStageArguments) {
    this.#tables = tables;
    this.#proxy = proxy;
    this.#args = args;
  }

  static async open(args: GuardStageArguments): Promise<GuardStage> {
    const tables = await openGuardTables();
    const proxy = await startFaultProxy({ target: tables.endpoint });
    return new GuardStage(tables, proxy, args);
  }

  /** Another worker process. */
  async startWorker(): Promise<GuardWorker> {
    const { library, tellsRemainingTime = true } = this.#args;
    const { endpoint } = this.#proxy;
    const orders = { library, endpoint, tables: this.#tables.names, leaseMs: LEASE_MS };
    const worker = await GuardWorker.start({ ...orders, tellsRemainingTime }, this.#answerAsk);
    this.#workers.push(worker);
    return worker;
  }

  /** Right before the nth call of the provider is sent. */
  beforeCall(nth: number, hook: ChargeHook): void {
    this.#onCall.set(nth, hook);
  }

  /** Right after the nth charge was made, before its caller hears of it. */
  afterCharge(nth: number, hook: ChargeHook): void {
    this.#onCharge.set(nth, hook);
  }

  /** The nth charge is made and its caller is told nothing. */
  loseReply(nth: number): void {
    this.#lostReplies.add(nth);
  }

  /** From now on this goes wrong between workers and store. */
  disturb(rules: FaultPlan["rules"]): void {
    this.#proxy.setPlan({ rules });
  }

  /** Resolves when the store has made the first write; its answer must be held up by a fault. */
  async firstWriteMade(): Promise<void> {
    const isMade = () =>
      this.#proxy.log.some(
        ({ action, answeredAtMs }) => WRITES.includes(action) && answeredAtMs !== undefined,
      );
    while (!isMade()) await pass(2);
  }

  /** One delivery of a message, and what came of it. */
  async deliver(worker: GuardWorker, messageId: string): Promise<GuardAnswer> {
    const receiveCount = (this.#receives.get(messageId) ?? 0) + 1;
    this.#receives.set(messageId, receiveCount);
    return await worker.deliver({ jobId: JOB_ID, messageId, receiveCount });
  }

  /** Delivers a message as a queue does until it is gone; `next` gives the worker of each. */
  async consume(messageId: string, next: () => Promise<GuardWorker> | GuardWorker): Promise<void> {
    while ((this.#receives.get(messageId) ?? 0) < MOST_RECEIVES) {
      const visibleAtMs = Date.now() + HIDDEN_MS;
      const answer = await this.deliver(await next(), messageId);
      if (answer.kind !== "again") {
        this.#ends.push(answer.kind === "acked" ? "done" : "parked");
        return;
      }
      await pass(Math.max(0, (answer.atMs ?? visibleAtMs) - Date.now()));
    }
    this.#ends.push("dead-lettered");
  }

  /** What became of it all. */
  figures(): GuardFigures {
    const ended = (["dead-lettered", "parked", "done"] as const).find((end) =>
      this.#ends.includes(end),
    );
    return {
      effect_ran: this.#charges.length,
      deliveries: [...this.#receives.values()].reduce((sum, receives) => sum + receives, 0),
      ended: ended ?? "dead-lettered",
      alarms: this.#workers.reduce((sum, { alarms }) => sum + alarms, 0),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await this.#proxy.close();
    await this.#tables[Symbol.asyncDispose]();
  }

  readonly #answerAsk: GuardWorld = async (worker, { what }) => {
    if (what === "find") return this.#charges[0];
    if (what === "call") {
      this.#calls += 1;
      await this.#onCall.get(this.#calls)?.(worker);
      return undefined;
    }
    const charge = { id: `ch_${this.#charges.length + 1}` };
    this.#charges.push(charge);
    const nth = this.#charges.length;
    await this.#onCharge.get(nth)?.(worker);
    return this.#lostReplies.has(nth) ? undefined : charge;
  };
}

const WRITES: readonly string[] = ["PutItem", "UpdateItem", "DeleteItem"];
