/** A worker process of a guard, seen from its parent: takes deliveries, can be paused and killed. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { GuardCommand, GuardNews, GuardOrders } from "./guard-program.ts";
import type { GuardAnswer, GuardedDelivery } from "./guards.ts";

/** Answers what a worker asks of the world outside; a `call` waits until it returns. */
export type GuardWorld = (
  worker: GuardWorker,
  ask: Extract<GuardNews, { kind: "ask" }>,
) => Promise<Extract<GuardCommand, { kind: "reply" }>["charge"]>;

/** One process. */
export class GuardWorker implements AsyncDisposable {
  readonly #child: ReturnType<typeof fork>;
  readonly #answers = new Map<number, (answer: GuardAnswer) => void>();
  readonly #exited: Promise<unknown>;
  #deliveries = 0;
  #says = "";
  #alarms = 0;

  private constructor(orders: GuardOrders, world: GuardWorld) {
    this.#child = fork(join(import.meta.dirname, "guard-program.ts"), {
      execArgv: ["--conditions=source"],
      env: { ...process.env, GUARD_ORDERS: JSON.stringify(orders) },
      silent: true,
    });
    // One of the guards warns on every call; only what ends the process is of interest.
    this.#child.stdout?.resume();
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#says = `${this.#says}${chunk}`.slice(-LONGEST_COMPLAINT);
    });
    this.#exited = once(this.#child, "exit");
    this.#child.on("message", (news: GuardNews) => this.#hear(news, world));
  }

  /** @throws Error with what the process said when it ends before it is ready */
  static async start(orders: GuardOrders, world: GuardWorld): Promise<GuardWorker> {
    const worker = new GuardWorker(orders, world);
    const ready = once(worker.#child, "message");
    const ended = worker.#exited.then(() => {
      throw new Error(`the worker of ${orders.library} did not start: ${worker.#says}`);
    });
    await Promise.race([ready, ended]);
    return worker;
  }

  /** Alarms that its guard has raised. */
  get alarms(): number {
    return this.#alarms;
  }

  /** What its guard makes of a delivery; one whose process is killed is to come again. */
  async deliver(delivery: GuardedDelivery): Promise<GuardAnswer> {
    this.#deliveries += 1;
    const nth = this.#deliveries;
    const { promise, resolve } = Promise.withResolvers<GuardAnswer>();
    this.#answers.set(nth, resolve);
    this.#tell({ kind: "deliver", nth, delivery });
    const killed = this.#exited.then(() => ({ kind: "again", why: "killed" }) as const);
    return await Promise.race([promise, killed]);
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #tell(command: GuardCommand): void {
    // One that is killed meanwhile hears no more.
    if (this.#child.connected) this.#child.send(command, () => {});
  }

  #hear(news: GuardNews, world: GuardWorld): void {
    if (news.kind === "alarm") this.#alarms += 1;
    if (news.kind === "answer") this.#answers.get(news.nth)?.(news.answer);
    if (news.kind !== "ask") return;
    void world(this, news).then((charge) =>
      this.#tell({ kind: "reply", ask: news.ask, ...(charge !== undefined && { charge }) }),
    );
  }
}

const LONGEST_COMPLAINT = 2_000;
