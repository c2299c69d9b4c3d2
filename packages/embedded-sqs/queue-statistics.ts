/** What a queue counts about itself: the server's own word, which no client can forge. */

/** How a message came into a queue. */
export type Arrival = "sent" | "dead-lettered" | "redriven";

/** How a message left a queue. */
export type Departure = "deleted" | "expired" | "purged" | "dead-lettered" | "redriven";

/** Counted since the queue was created, also over restarts of an account that is kept in a folder. */
export interface QueueStatistics {
  /** Messages that producers sent, duplicates of a FIFO queue left out. */
  sent: number;
  /** Sends that FIFO deduplication swallowed. */
  deduplicated: number;
  /** Messages handed to receives: each receive of each message. */
  received: number;
  /** Messages that a client deleted. */
  deleted: number;
  /** Changes of visibility that took effect, releases included. */
  visibilityChanged: number;
  /** Changes of visibility to 0 that took effect. */
  released: number;
  /** Times that a visibility timeout ended by itself: somebody did not keep a message. */
  lapsed: number;
  /** Messages that the redrive policy moved from here to the dead-letter queue. */
  movedToDeadLetter: number;
  /** Messages that a redrive policy moved here from a source queue. */
  arrivedDeadLettered: number;
  /** Messages that a move task brought here. */
  arrivedRedriven: number;
  /** Messages that a move task took from here. */
  redriven: number;
  /** Messages that outlived the retention period. */
  expired: number;
  /** Messages that a purge removed. */
  purged: number;
}

/** Statistics of a queue that has seen nothing yet. */
export function emptyStatistics(): QueueStatistics {
  return {
    sent: 0,
    deduplicated: 0,
    received: 0,
    deleted: 0,
    visibilityChanged: 0,
    released: 0,
    lapsed: 0,
    movedToDeadLetter: 0,
    arrivedDeadLettered: 0,
    arrivedRedriven: 0,
    redriven: 0,
    expired: 0,
    purged: 0,
  };
}

/** The counter of each way in. */
export const ARRIVAL_COUNTER: Readonly<Record<Arrival, keyof QueueStatistics>> = {
  sent: "sent",
  "dead-lettered": "arrivedDeadLettered",
  redriven: "arrivedRedriven",
};

/** The counter of each way out. */
export const DEPARTURE_COUNTER: Readonly<Record<Departure, keyof QueueStatistics>> = {
  deleted: "deleted",
  expired: "expired",
  purged: "purged",
  "dead-lettered": "movedToDeadLetter",
  redriven: "redriven",
};
