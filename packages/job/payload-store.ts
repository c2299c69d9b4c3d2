/** Port: where a payload lies that is too large for its message (a claim check). */

/** What a message says about a payload that it does not carry. */
export interface PayloadRef {
  /** Of the payload as JSON in UTF-8, in lower-case hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * A place that producers write to and workers read from.
 *
 * What lies there is never deleted by us: a message may be delivered again, redriven or replayed.
 * Give the store a rule that deletes by age, longer than the retention of the queue and of its
 * dead-letter queue together.
 */
export interface PayloadStore {
  /**
   * Resolves when the text is durable. The same key comes again with the same text: write it again,
   * so that its age starts anew.
   *
   * @param key - up to 256 ASCII letters, digits and `-_.~`, in parts joined by `/`; tenant first
   */
  put(key: string, json: string): Promise<void>;
  /** The text, or `undefined` when nothing lies there; rejects when that cannot be told now. */
  get(key: string): Promise<string | undefined>;
}
