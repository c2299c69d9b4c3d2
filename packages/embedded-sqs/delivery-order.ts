/** Port: which message of a queue is served next. */

import type { StoredMessage } from "./stored-message.ts";

/**
 * The order in which a queue serves. It is told of each move of a message: `leave` while the
 * message is still in its old state, `enter` when it is in its new one.
 */
export interface DeliveryOrder {
  enter(message: StoredMessage): void;
  leave(message: StoredMessage): void;
  /** A new receive begins: what the one before it took is now in other hands. */
  begin(): void;
  /** The message to serve next in this receive. It stays where it is until it is moved. */
  next(): StoredMessage | undefined;
}
