/** A heap whose items can be moved and removed wherever they stand, each in O(log n). Pure. */

/** Keeps the first of its items, by `before`, at hand. */
export class PriorityHeap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item; it stays in the heap. */
  peek(): T | undefined {
    return this.#items[0];
  }

  /** Adds `item`, or finds its new place after what it is ordered by has changed. */
  put(item: T): void {
    const place = this.#places.get(item) ?? this.#items.push(item) - 1;
    this.#rise(item, place);
    this.#sink(item, this.#places.get(item) ?? place);
  }

  /** Takes `item` out; one that is not in the heap changes nothing. */
  remove(item: T): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#set(last, place);
    this.put(last);
  }

  #rise(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.#items[parentPlace] as T;
      if (!this.#before(item, parent)) break;
      this.#set(parent, place);
      place = parentPlace;
    }
    this.#set(item, place);
  }

  #sink(item: T, from: number): void {
    let place = from;
    for (;;) {
      let childPlace = 2 * place + 1;
      if (childPlace >= this.#items.length) break;
      const right = this.#items[childPlace + 1];
      if (right !== undefined && this.#before(right, this.#items[childPlace] as T)) childPlace += 1;
      const child = this.#items[childPlace] as T;
      if (!this.#before(child, item)) break;
      this.#set(child, place);
      place = childPlace;
    }
    this.#set(item, place);
  }

  #set(item: T, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
}
