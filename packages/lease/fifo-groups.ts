/** Order within a message group: who may start, and who has to go back with whom. Pure. */

import { MAX_HELD_OF_GROUP } from "./limits.ts";

/** How a message's wait for its turn ended: it may start, or goes back with one before it. */
export type Turn = "come" | "gone";

/** Where one received message stands in its group. */
export interface Place {
  readonly groupId: string;
  readonly messageId: string;
  /** Only the first may start; one that is over never does. */
  readonly standing: "waiting" | "first" | "over";
  readonly turn: Promise<Turn>;
}

/**
 * The message groups of one FIFO queue, as far as their messages are here.
 *
 * A message may start when it is the first of its group: whatever came before it was deleted, and
 * SQS has confirmed that. One that ends in any other way takes all that came after it along, for the
 * next owner of it will work it before them. What is received later begins anew behind the rest.
 */
export class FifoGroups {
  readonly #groups = new Map<string, OwnPlace[]>();

  /**
   * Takes a message in, behind those of its group that are here; one that is here keeps its place.
   * All messages of a receive have to be taken in before anything is done with the first.
   */
  enter(groupId: string, messageId: string): Place {
    const places = this.#groups.get(groupId) ?? [];
    const own = places.find((place) => place.messageId === messageId);
    if (own !== undefined) return own;
    const place = new OwnPlace(groupId, messageId);
    if (places.length === MAX_HELD_OF_GROUP) {
      place.end();
      return place;
    }
    places.push(place);
    this.#groups.set(groupId, places);
    places[0]?.begin();
    return place;
  }

  /** Its delete was confirmed: the next one may start. */
  pass(place: Place): void {
    const { places, index } = this.#find(place);
    if (index === -1) return;
    for (const passed of places.splice(index, 1)) passed.end();
    if (places.length === 0) this.#groups.delete(place.groupId);
    places[0]?.begin();
  }

  /** It goes back or is lost, and with it whatever is behind it: that is returned, last first. */
  leave(place: Place): readonly Place[] {
    const { places, index } = this.#find(place);
    if (index === -1) return [];
    const gone = places.splice(index);
    if (index === 0) this.#groups.delete(place.groupId);
    for (const each of gone) each.end();
    return gone.slice(1).reverse();
  }

  #find(place: Place): { readonly places: OwnPlace[]; readonly index: number } {
    const places = this.#groups.get(place.groupId) ?? [];
    return { places, index: (places as readonly Place[]).indexOf(place) };
  }
}

class OwnPlace implements Place {
  readonly groupId: string;
  readonly messageId: string;
  readonly turn: Promise<Turn>;
  readonly #decide: (turn: Turn) => void;
  #standing: Place["standing"] = "waiting";

  constructor(groupId: string, messageId: string) {
    const { promise, resolve } = Promise.withResolvers<Turn>();
    this.groupId = groupId;
    this.messageId = messageId;
    this.turn = promise;
    this.#decide = resolve;
  }

  get standing(): Place["standing"] {
    return this.#standing;
  }

  begin(): void {
    this.#standing = "first";
    this.#decide("come");
  }

  end(): void {
    this.#standing = "over";
    this.#decide("gone");
  }
}
