/** One message of the corpus, and where a worker must leave it. */

import type { SqsAttributes } from "./envelopes.ts";

/** Where a message is ten seconds after it was sent. */
export type Expected =
  /** Odd, but a job: its handler ran once and the worker deleted the message. */
  | { readonly end: "acked" }
  /** A copy with its reason lies in the dead-letter queue; no handler ran. */
  | {
      readonly end: "dead-lettered";
      /** The word that the detail begins with. */
      readonly word: string;
      /** What the copy says besides what the message had. @defaultValue all but the history */
      readonly marks?: readonly Mark[];
    }
  /** Still in its queue, hidden longer each time, for another release of the worker. */
  | { readonly end: "waiting"; readonly reason: "unknown-type" | "newer-version" };

/** An attribute that a dead letter may have beyond those of its message. */
export type Mark = "reason" | "detail" | "source" | "history";

/** One message, raw, as its producer sent it. */
export interface BadMessage {
  readonly name: string;
  readonly body: string;
  readonly attributes?: SqsAttributes;
  readonly groupId?: string;
  readonly expected: Expected;
}

type Extras = Omit<Partial<BadMessage>, "name" | "body" | "expected"> & {
  readonly marks?: readonly Mark[];
};

const malformed =
  (word: string) =>
  (name: string, body: string, { marks, ...extras }: Extras = {}): BadMessage => ({
    name,
    body,
    ...extras,
    expected: { end: "dead-lettered", word, ...(marks === undefined ? {} : { marks }) },
  });
/** To be dead-lettered, as are the next six; `marks` when the copy has not room for all. */
export const notJson = malformed("not-json");
/** See `notJson`. */
export const notAnObject = malformed("not-an-object");
/** See `notJson`. */
export const missing = malformed("missing-field");
/** See `notJson`. */
export const invalid = malformed("invalid-field");
/** See `notJson`. */
export const mismatch = malformed("attribute-mismatch");
/** See `notJson`. */
export const tooDeep = malformed("too-deep");
/** See `notJson`: the payload against its schema. */
export const misfit = malformed("invalid-payload");

/** To be acked. */
export const legal = (
  name: string,
  body: string,
  extras: Omit<Extras, "marks"> = {},
): BadMessage => ({
  ...{ name, body, ...extras },
  expected: { end: "acked" },
});
const waits =
  (reason: "unknown-type" | "newer-version") =>
  (name: string, body: string, extras: Omit<Extras, "marks"> = {}): BadMessage => ({
    ...{ name, body, ...extras },
    expected: { end: "waiting", reason },
  });
/** To wait for a worker that knows its type. */
export const unknown = waits("unknown-type");
/** To wait for a worker that reads its version. */
export const newer = waits("newer-version");
