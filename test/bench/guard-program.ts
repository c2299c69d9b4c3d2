/** A worker process with one guard: takes deliveries from its parent and charges through it. */

import type { GuardTableNames } from "./guard-tables.ts";
import { type Charge, type GuardAnswer, type GuardedDelivery, guards } from "./guards.ts";

/** What the process is, in its environment. */
export interface GuardOrders {
  readonly library: string;
  readonly endpoint: string;
  readonly tables: GuardTableNames;
  readonly leaseMs: number;
  readonly tellsRemainingTime: boolean;
}

/** What its parent says. A reply without a charge: there is none, or its answer is lost. */
export type GuardCommand =
  | { readonly kind: "deliver"; readonly nth: number; readonly delivery: GuardedDelivery }
  | { readonly kind: "reply"; readonly ask: number; readonly charge?: Charge };

/** What it says: each `ask` waits for its reply. */
export type GuardNews =
  | { readonly kind: "ready" }
  | { readonly kind: "alarm" }
  | {
      readonly kind: "ask";
      readonly ask: number;
      /** `call`: about to send a charge; `charge`: sent. */
      readonly what: "call" | "charge" | "find";
      readonly jobId: string;
    }
  | { readonly kind: "answer"; readonly nth: number; readonly answer: GuardAnswer };

const orders = JSON.parse(process.env["GUARD_ORDERS"] ?? "{}") as GuardOrders;
const waiting = new Map<number, (reply: Extract<GuardCommand, { kind: "reply" }>) => void>();
let asks = 0;

function say(news: GuardNews): void {
  process.send?.(news);
}

function ask(what: "call" | "charge" | "find", jobId: string) {
  asks += 1;
  const { promise, resolve } =
    Promise.withResolvers<Extract<GuardCommand, { readonly kind: "reply" }>>();
  waiting.set(asks, resolve);
  say({ kind: "ask", ask: asks, what, jobId });
  return promise;
}

const provider = {
  charge: async (jobId: string): Promise<Charge> => {
    await ask("call", jobId);
    const { charge } = await ask("charge", jobId);
    if (charge === undefined) throw new Error("the connection broke before an answer came");
    return charge;
  },
  find: async (jobId: string): Promise<Charge | undefined> => (await ask("find", jobId)).charge,
};

const open = guards[orders.library];
if (open === undefined) throw new Error(`there is no guard ${orders.library}`);
const guard = open({ ...orders, provider, onAlarm: () => say({ kind: "alarm" }) });

process.on("message", (command: GuardCommand) => {
  if (command.kind === "reply") {
    waiting.get(command.ask)?.(command);
    waiting.delete(command.ask);
    return;
  }
  const { nth, delivery } = command;
  void guard.deliver(delivery).then((answer) => say({ kind: "answer", nth, answer }));
});
say({ kind: "ready" });
