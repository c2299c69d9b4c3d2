/** Chance from a seed, so that a schedule that fails can be run again. */

/** Draws numbers; two of the same seed draw the same. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1); mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A number from `min` up to `max`. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min));
  }

  /** True in one of so many. */
  isHit(share: number): boolean {
    return this.next() < share;
  }

  /** One of them. */
  pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.next() * values.length)] as Value;
  }
}
