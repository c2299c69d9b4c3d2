/**
 * The time of one lease in memory that two threads share, each word with one writer at a time.
 *
 * A slot is *idle*, *calling* while a change of visibility is out, *stopping* when it is to be the
 * last one, and *stopped*. The extender's thread enters (idle to calling), writes only while it is
 * inside, and leaves (calling to idle, stopping to stopped). The main thread stops (idle to stopped,
 * calling to stopping): from then on no call can leave, and in *stopped* none is out. Every move is
 * one compare-and-set of a word that also holds the slot's generation, so that nobody who still
 * knows a former lease of this slot can do anything to the next one.
 */

import type { Moment } from "@leasehold/clock";
import type { KeptTerm } from "./lease-keeper.ts";

/** A term, and how many newer handles its writer had been told of. */
export interface StoredTerm extends KeptTerm {
  readonly handlesAdopted: number;
}

/** Slots in one piece of shared memory. */
export const SLOTS_PER_PAGE = 64;

const STATE_BITS = 2;
const IDLE = 0;
const CALLING = 1;
const STOPPING = 2;
const STOPPED = 3;

/** Two banks of seven words after the version, then the state: sixteen words of eight bytes. */
const BANK_WORDS = 7;
const STATE_WORD = 1 + 2 * BANK_WORDS;
const SLOT_WORDS = STATE_WORD + 1;
const WORD_BYTES = 8;
const VERDICTS = ["held", "refused", "late"] as const;

/** Floats travel as their bits, for only whole numbers can be written in one piece. */
const float = new Float64Array(1);
const bits = new BigInt64Array(float.buffer);

/** Memory for `SLOTS_PER_PAGE` leases. */
export function newPage(): SharedArrayBuffer {
  return new SharedArrayBuffer(SLOTS_PER_PAGE * SLOT_WORDS * WORD_BYTES);
}

/** One lease's place in a page, seen from either thread. */
export class TermSlot {
  readonly #words: BigInt64Array;
  readonly #state: Int32Array;
  readonly #tag: number;
  #seen: { readonly version: bigint; readonly term: StoredTerm } | undefined;

  /** @param generation - counts the leases that this place has served */
  constructor(page: SharedArrayBuffer, place: number, generation: number) {
    const offset = (place % SLOTS_PER_PAGE) * SLOT_WORDS * WORD_BYTES;
    this.#words = new BigInt64Array(page, offset, SLOT_WORDS);
    this.#state = new Int32Array(page, offset + STATE_WORD * WORD_BYTES, 1);
    this.#tag = generation << STATE_BITS;
  }

  /** Begins a new lease here; nobody else may know of it yet. */
  lend(term: StoredTerm): void {
    this.write(term);
    Atomics.store(this.#state, 0, this.#tag | IDLE);
  }

  /** Whether a call for this lease may leave; the caller is then inside until `leave`. */
  enter(): boolean {
    return this.#move(IDLE, CALLING);
  }

  /** The call is over. @returns whether it was the last one, because someone has stopped the lease */
  leave(): boolean {
    return !this.#move(CALLING, IDLE) && this.#move(STOPPING, STOPPED);
  }

  /** No call leaves from now on. @returns whether one is still out */
  stop(): boolean {
    while (!this.#move(IDLE, STOPPED)) {
      if (this.#move(CALLING, STOPPING)) return true;
      const state = Atomics.load(this.#state, 0);
      if (state === (this.#tag | STOPPING)) return true;
      if (state !== (this.#tag | IDLE) && state !== (this.#tag | CALLING)) return false;
    }
    return false;
  }

  /** The newest term; the same object until there is a newer one. */
  read(): StoredTerm {
    for (;;) {
      const version = Atomics.load(this.#words, 0);
      if (this.#seen?.version === version) return this.#seen.term;
      const term = this.#readBank(version);
      // The writer touches only the other bank before it raises the version: no torn term, no lock,
      // and nobody waits for a writer that has died.
      if (Atomics.load(this.#words, 0) === version) {
        this.#seen = { version, term };
        return term;
      }
    }
  }

  /** Only inside, or before the lease is known to the other thread. */
  write(term: StoredTerm): void {
    const version = Atomics.load(this.#words, 0) + 1n;
    const { lastSentAt, validUntil, visibleBy, verdict, handlesAdopted } = term;
    const moments = [lastSentAt, validUntil, visibleBy];
    const numbers = moments.flatMap(({ monotonicMs, wallMs }) => [monotonicMs, wallMs]);
    numbers.push(VERDICTS.indexOf(verdict) + VERDICTS.length * handlesAdopted);
    for (const [index, number] of numbers.entries()) {
      float[0] = number;
      Atomics.store(this.#words, bankOf(version) + index, bits[0] as bigint);
    }
    Atomics.store(this.#words, 0, version);
  }

  #readBank(version: bigint): StoredTerm {
    const number = (index: number): number => {
      bits[0] = Atomics.load(this.#words, bankOf(version) + index);
      return float[0] as number;
    };
    const moment = (index: number): Moment => ({
      monotonicMs: number(index),
      wallMs: number(index + 1),
    });
    const last = number(BANK_WORDS - 1);
    return {
      lastSentAt: moment(0),
      validUntil: moment(2),
      visibleBy: moment(4),
      verdict: VERDICTS[last % VERDICTS.length] as StoredTerm["verdict"],
      handlesAdopted: Math.floor(last / VERDICTS.length),
    };
  }

  #move(from: number, to: number): boolean {
    const expected = this.#tag | from;
    return Atomics.compareExchange(this.#state, 0, expected, this.#tag | to) === expected;
  }
}

function bankOf(version: bigint): number {
  return version % 2n === 0n ? 1 : 1 + BANK_WORDS;
}
