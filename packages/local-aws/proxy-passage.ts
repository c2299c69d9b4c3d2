/** One request on its way through the fault proxy: forth, back, and what meets it there. */

import { once } from "node:events";
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import type { Clock } from "@leasehold/clock";
import type { Fault } from "./fault-plan.ts";
import { type FaultReply, serverErrorReply, throttleReply } from "./fault-reply.ts";
import {
  joinBatch,
  type ProxiedRequest,
  type ProxyStage,
  type RequestFacts,
  type RequestHead,
  readProxied,
  splitBatch,
  withAnswer,
} from "./proxied-request.ts";

/** What all requests of one proxy share. */
export interface PassageRoom {
  readonly clock: Clock;
  readonly target: URL;
  readonly agent: Agent;
  /** Ends everything at once. */
  readonly closing: AbortSignal;
}

/** The entry of the log that a passage writes on as it goes. */
export type OpenRecord = { -readonly [Field in keyof ProxiedRequest]: ProxiedRequest[Field] };

/** An answer on its way to the client. */
interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Ten megabytes of messages escaped in JSON, and sixteen of DynamoDB's items, with room. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** In how many pieces a slow body comes. */
const SLOW_PIECES = 10;

/** Belong to one connection, and are made anew for the next. */
const HOP_HEADERS = ["connection", "keep-alive", "transfer-encoding", "content-length"];

/** What is left of a request once a fault has swallowed it. */
class Swallowed extends Error {}

/** From the first byte of a request to the last of its answer. */
export class ProxyPassage {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #room: PassageRoom;
  #record: OpenRecord | undefined;

  constructor(incoming: IncomingMessage, response: ServerResponse, room: PassageRoom) {
    this.#request = incoming;
    this.#response = response;
    this.#room = room;
  }

  /**
   * Takes the request through; never rejects.
   * @param enter - opens the entry of the log and chooses the fault
   */
  async run(enter: (facts: RequestFacts) => OpenRecord): Promise<void> {
    try {
      const body = await readAll(this.#request);
      this.#record = enter(readProxied(this.#head, body));
      this.#response.once("close", () => this.#onClose());
      await this.#pass(body, this.#record.fault);
    } catch {
      // Swallowed, cut off by `close`, or the other side broke: there is nobody to answer.
      this.#request.socket.resetAndDestroy();
    }
    if (this.#record !== undefined) this.#record.stage = "over";
  }

  get #head(): RequestHead {
    const { headers, method = "", url = "" } = this.#request;
    const target = headers["x-amz-target"];
    return { method, path: url, target: target === undefined ? target : String(target) };
  }

  /** Says in whose words a fault has to be told. */
  get #target(): string {
    return this.#head.target ?? "";
  }

  async #pass(body: Buffer, fault: Fault | undefined): Promise<void> {
    const refusal = refusalOf(fault, this.#target);
    if (refusal !== undefined) return this.#answer(refusal);
    if (fault?.kind === "hung") return this.#untilGone();
    if (fault?.kind === "reset" && fault.side === "before") throw new Swallowed();
    if (fault?.kind === "latency" && fault.side === "before") await this.#wait(fault.delayMs);
    const answer = await this.#askTarget(body, fault);
    if (this.#record !== undefined) {
      this.#record.answeredAtMs = this.#nowMs();
      this.#record.entries = withAnswer(this.#record.entries, answer.status, answer.body);
    }
    await this.#bringBack(answer, fault);
  }

  async #bringBack(answer: Answer, fault: Fault | undefined): Promise<void> {
    switch (fault?.kind) {
      case "lost-reply":
        return this.#untilGone();
      case "reset":
        throw new Swallowed();
      case "server-error":
        return this.#answer(serverErrorReply(this.#target, fault.status ?? 500));
      case "slow-body":
        return this.#trickle(answer, fault.durationMs);
      case "latency":
        if (fault.side === "after") await this.#wait(fault.delayMs);
        return this.#answer(answer);
      default:
        return this.#answer(answer);
    }
  }

  async #askTarget(body: Buffer, fault: Fault | undefined): Promise<Answer> {
    const split = fault?.kind === "failed-entries" ? splitBatch(body) : undefined;
    if (split === undefined) return this.#forward(body);
    const { passed, failed } = split;
    const rest = passed === undefined ? undefined : await this.#forward(passed);
    if (rest !== undefined && rest.status >= 300) return rest;
    const headers = rest?.headers ?? { "content-type": "application/x-amz-json-1.0" };
    return { status: 200, headers, body: joinBatch(rest?.body, failed) };
  }

  /** Resolves with the target's whole answer, whether or not anybody still waits for it. */
  async #forward(body: Buffer): Promise<Answer> {
    const { target, agent, closing } = this.#room;
    const { method, url, headers } = this.#request;
    const onward = request({
      ...{ hostname: target.hostname, port: target.port || 80, agent, signal: closing },
      ...{ method, path: url, headers: { ...sansHops(headers), "content-length": body.length } },
    });
    if (this.#record !== undefined) this.#record.forwardedAtMs = this.#nowMs();
    this.#stage("forwarded");
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const status = answer.statusCode ?? 502;
    return { status, headers: sansHops(answer.headers), body: await readAll(answer) };
  }

  async #answer({ status, headers, body }: Answer | FaultReply): Promise<void> {
    if (!this.#begin(status, headers, body)) return;
    this.#stage("answering");
    this.#response.end(body);
    await this.#finished();
  }

  async #trickle({ status, headers, body }: Answer, durationMs: number): Promise<void> {
    if (!this.#begin(status, headers, body)) return;
    this.#response.flushHeaders();
    const cut = (piece: number) => Math.floor((body.length * piece) / SLOW_PIECES);
    for (let piece = 0; piece < SLOW_PIECES; piece += 1) {
      await this.#wait(durationMs / SLOW_PIECES);
      if (this.#response.destroyed) return;
      this.#response.write(body.subarray(cut(piece), cut(piece + 1)));
    }
    this.#stage("answering");
    this.#response.end();
    await this.#finished();
  }

  /** Whether there is still somebody to answer. */
  #begin(status: number, headers: OutgoingHttpHeaders, body: Buffer): boolean {
    if (this.#response.destroyed) return false;
    if (this.#record !== undefined) this.#record.status = status;
    this.#response.writeHead(status, { ...headers, "content-length": body.length });
    return true;
  }

  #finished(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#response.writableFinished || this.#response.destroyed) resolve();
    this.#response.once("finish", resolve).once("close", resolve);
    return promise;
  }

  /** The client has to give up by itself. */
  async #untilGone(): Promise<void> {
    this.#stage("held");
    if (!this.#response.destroyed) await once(this.#response, "close");
  }

  async #wait(durationMs: number): Promise<void> {
    const { clock, closing } = this.#room;
    this.#stage("held");
    await clock.sleep(durationMs, closing);
    if (closing.aborted) throw new Swallowed();
  }

  #onClose(): void {
    if (this.#record === undefined) return;
    if (this.#response.writableFinished) this.#record.repliedAtMs = this.#nowMs();
    else this.#record.clientGoneAtMs = this.#nowMs();
  }

  #stage(stage: ProxyStage): void {
    if (this.#record !== undefined) this.#record.stage = stage;
  }

  #nowMs(): number {
    return this.#room.clock.wallMs();
  }
}

/** What is answered instead of passing the request on. */
function refusalOf(fault: Fault | undefined, target: string): FaultReply | undefined {
  if (fault?.kind === "throttle") return throttleReply(target, fault.code);
  if (fault?.kind !== "server-error" || fault.side === "after") return undefined;
  return serverErrorReply(target, fault.status ?? 500);
}

function sansHops(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !HOP_HEADERS.includes(name));
  return Object.fromEntries(kept);
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw new Swallowed();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
