/** A proxy in front of AWS that delays, throttles, breaks and loses, by a plan, and keeps a log. */

import { once } from "node:events";
import { Agent, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "@leasehold/clock";
import { checkFaultPlan, type FaultPlan, FaultSchedule, noFaults } from "./fault-plan.ts";
import type { ProxiedRequest, RequestFacts } from "./proxied-request.ts";
import { type OpenRecord, type PassageRoom, ProxyPassage } from "./proxy-passage.ts";

/** Where a proxy stands and what goes wrong in it. */
export interface FaultProxyOptions {
  /**
   * The endpoint behind it, for example `http://127.0.0.1:4566`. One that checks no signatures: they
   * cover the address, which is the proxy's.
   */
  readonly target: string;
  /** @defaultValue nothing goes wrong */
  readonly plan?: FaultPlan;
  /** Of delays and of the log. @defaultValue the clock of this process */
  readonly clock?: Clock;
  /** @defaultValue 0: any free port */
  readonly port?: number;
  /** How many requests the log keeps; the oldest go first. @defaultValue 10_000 */
  readonly logLimit?: number;
}

/** A running proxy, reachable from this machine only. */
export interface FaultProxy extends AsyncDisposable {
  /** For the SDK's `endpoint` option. */
  readonly endpoint: string;
  /** Every request in the order of arrival, as far as it has come by now. */
  readonly log: readonly ProxiedRequest[];
  /**
   * From now on this goes wrong; requests that have met their fault keep it, and counting begins
   * anew.
   * @throws RangeError when a rule makes no sense
   */
  setPlan(plan: FaultPlan): void;
  /** From now on nothing goes wrong any more. */
  clear(): void;
  /** Ends every connection, whatever is under way. Calling it twice is the same as once. */
  close(): Promise<void>;
}

/** Longer than clients keep an idle connection, so that no request meets one that is closing. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts a proxy in front of SQS, DynamoDB or anything else that speaks AWS's JSON over HTTP.
 *
 * What has left for the target arrives there and takes effect, also when its client gives up or when
 * its delay is longer than the client's patience: that is what makes answers unknown.
 *
 * @throws RangeError when the target is no HTTP address or a rule makes no sense
 * @throws Error of the system, with its `code`, when the port is taken
 * @example
 * ```ts
 * const proxy = await startFaultProxy({
 *   target: "http://127.0.0.1:4566",
 *   plan: { seed: 7, rules: [{ fault: { kind: "lost-reply" }, chance: 0.1 }] },
 * });
 * ```
 */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new RunningProxy(options);
  await proxy.listen(options.port ?? 0);
  return proxy;
}

class RunningProxy implements FaultProxy {
  readonly log: ProxiedRequest[] = [];
  readonly #server: Server;
  readonly #room: PassageRoom;
  readonly #closing = new AbortController();
  readonly #logLimit: number;
  #schedule = new FaultSchedule(noFaults);
  #requests = 0;
  #closed: Promise<unknown> | undefined;

  constructor({ target, plan, clock = systemClock, logLimit = 10_000 }: FaultProxyOptions) {
    if (!/^http:\/\/[^/]/.test(target)) {
      throw new RangeError(`target must be an http URL, got ${target}`);
    }
    if (plan !== undefined) this.setPlan(plan);
    this.#logLimit = logLimit;
    // A connection for each request: none is kept that could break for a reason of its own.
    const agent = new Agent({ keepAlive: false });
    const { signal: closing } = this.#closing;
    this.#room = { clock, target: new URL(target), agent, closing };
    this.#server = createServer((request, response) => {
      const passage = new ProxyPassage(request, response, this.#room);
      void passage.run((facts) => this.#enter(facts));
    });
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  setPlan(plan: FaultPlan): void {
    checkFaultPlan(plan);
    this.#schedule = new FaultSchedule(plan);
  }

  clear(): void {
    this.setPlan(noFaults);
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    this.#room.agent.destroy();
    await closed;
  }

  /** Gives a request its number and its fault. */
  #enter(facts: RequestFacts): OpenRecord {
    this.#requests += 1;
    const record: OpenRecord = {
      ...{ requestNumber: this.#requests, ...facts, ...this.#schedule.next(facts) },
      stage: "held",
      arrivedAtMs: this.#room.clock.wallMs(),
    };
    this.log.push(record);
    if (this.log.length > this.#logLimit) this.log.shift();
    return record;
  }
}
