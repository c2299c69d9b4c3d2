/** Waits on one worker's wire for a moment, holds the request there, and tells of it. */

import type { Deed } from "./cells.ts";
import type { Answer, Exchange } from "./hold-proxy.ts";
import type { WirePoint } from "./wire-point.ts";

/** One request on a wire: which step it is, and how it goes on from here. */
export interface Passing {
  readonly exchange: Exchange;
  readonly point: WirePoint | undefined;
  /** Has it take effect. */
  readonly pass: () => Promise<Answer>;
}

/** Decides about every request on a wire. */
export type Script = (passing: Passing) => Promise<void>;

/** A wire on which nothing happens. */
export const openRoad: Script = async ({ exchange, pass }) => exchange.reply(await pass());

/** What a trap waits for. */
export interface TrapSetting {
  readonly at: WirePoint;
  readonly side: "before" | "after";
  readonly deed?: Deed;
}

/** A request in the trap. */
export interface Held {
  /** Has it take effect unless it has, and tells whoever asked. */
  readonly goOn: () => Promise<void>;
  /** Ends the connection; nothing more comes of it. */
  readonly drop: () => void;
}

const THROTTLED: Pick<Answer, "status" | "headers" | "body"> = {
  status: 400,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(
    JSON.stringify({
      __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException",
      message: "Rate exceeded",
    }),
  ),
};

/** Springs once, or for a throttle as often as it is told. */
export class Trap {
  /** The moment has come. */
  readonly sprung: Promise<Held>;
  readonly script: Script;
  readonly #setting: TrapSetting;
  readonly #spring: (held: Held) => void;
  #met = 0;

  constructor(setting: TrapSetting) {
    const { promise, resolve } = Promise.withResolvers<Held>();
    this.sprung = promise;
    this.#spring = resolve;
    this.#setting = setting;
    this.script = (passing) => this.#meet(passing);
  }

  async #meet(passing: Passing): Promise<void> {
    const { at, deed } = this.#setting;
    const times = deed?.kind === "throttle" ? deed.times : 1;
    if (passing.point !== at || this.#met >= times) return await openRoad(passing);
    this.#met += 1;
    if (deed?.kind !== "throttle") return await this.#hold(passing);
    passing.exchange.reply(THROTTLED);
    if (this.#met === times) this.#spring({ goOn: async () => {}, drop: () => {} });
  }

  async #hold({ exchange, pass }: Passing): Promise<void> {
    const answer = this.#setting.side === "after" ? await pass() : undefined;
    const goOn = async () => exchange.reply(answer ?? (await pass()));
    this.#spring({ goOn, drop: () => exchange.drop() });
    await exchange.over;
  }
}
