/** Places in shared memory, lent to one lease after the other. */

import { newPage, SLOTS_PER_PAGE, type StoredTerm, TermSlot } from "./shared-term.ts";

/** A place that is lent. */
export interface LentSlot {
  readonly slot: TermSlot;
  readonly place: number;
  readonly generation: number;
}

/** After so many leases a place counts anew: what still knew the first one is long gone. */
const GENERATIONS = 2 ** 28;

/** Grows by pages and never shrinks: it holds as many places as there were leases at once. */
export class SlotPool {
  readonly #pages: SharedArrayBuffer[] = [];
  readonly #generations: number[] = [];
  readonly #free: number[] = [];
  readonly #onPage: (page: SharedArrayBuffer) => void;

  /** @param onPage - hears of each new page, in their order, before a place in it is lent */
  constructor(onPage: (page: SharedArrayBuffer) => void) {
    this.#onPage = onPage;
  }

  /** How many places there are, lent or not. */
  get places(): number {
    return this.#generations.length;
  }

  /** How many are lent. */
  get lent(): number {
    return this.places - this.#free.length;
  }

  lend(term: StoredTerm): LentSlot {
    if (this.#free.length === 0) this.#grow();
    const place = this.#free.pop() as number;
    const generation = ((this.#generations[place] as number) + 1) % GENERATIONS;
    this.#generations[place] = generation;
    const slot = new TermSlot(pageOf(this.#pages, place), place, generation);
    slot.lend(term);
    return { slot, place, generation };
  }

  /** Nobody is inside any more. */
  giveBack({ place }: LentSlot): void {
    this.#free.push(place);
  }

  #grow(): void {
    const page = newPage();
    this.#pages.push(page);
    this.#onPage(page);
    for (let place = this.places + SLOTS_PER_PAGE - 1; place >= this.places; place -= 1) {
      this.#free.push(place);
    }
    for (let more = 0; more < SLOTS_PER_PAGE; more += 1) this.#generations.push(0);
  }
}

/** The page of a place. */
export function pageOf(pages: readonly SharedArrayBuffer[], place: number): SharedArrayBuffer {
  const page = pages[Math.floor(place / SLOTS_PER_PAGE)];
  if (page === undefined) throw new RangeError(`there is no page for place ${place}`);
  return page;
}
