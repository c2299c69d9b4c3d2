/** Port: where a result goes that is too big for the ledger. */

/** Keeps texts by name. What was put is found as long as the ledger may ask for it. */
export interface ResultStore {
  /**
   * Keeps the text; durable when it returns.
   * @param name - 64 hexadecimal characters, different for different texts
   */
  put(name: string, text: string): Promise<void>;
  /** The text, or `undefined` when it is not there. */
  get(name: string): Promise<string | undefined>;
}
