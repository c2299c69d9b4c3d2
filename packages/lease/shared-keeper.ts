/** Reads what the extender's thread has proved about one lease, on the main thread. */

import type { Moment } from "@leasehold/clock";
import type { ToExtender } from "./extender-post.ts";
import type { KeptTerm, LeaseKeeper } from "./lease-keeper.ts";
import { later } from "./lease-term.ts";
import type { StoredTerm, TermSlot } from "./shared-term.ts";

type Adoption = Omit<Extract<ToExtender, { readonly kind: "adopt" }>, "queue" | "lease">;

/** Bridges the time until the thread has heard of a newer receipt handle. */
export class SharedKeeper implements LeaseKeeper {
  readonly #slot: TermSlot;
  readonly #post: (adoption: Adoption) => void;
  #handlesAdopted = 0;
  #visibleBy: Moment | undefined;
  #read: { readonly stored: StoredTerm; readonly term: KeptTerm } | undefined;

  constructor(slot: TermSlot, post: (adoption: Adoption) => void) {
    this.#slot = slot;
    this.#post = post;
  }

  read(): KeptTerm {
    const stored = this.#slot.read();
    if (this.#read?.stored !== stored) this.#read = { stored, term: this.#judge(stored) };
    return this.#read.term;
  }

  adopt(receiptHandle: string, visibleBy: Moment): void {
    this.#handlesAdopted += 1;
    this.#visibleBy = later(this.#visibleBy ?? visibleBy, visibleBy);
    this.#read = undefined;
    this.#post({ kind: "adopt", receiptHandle, visibleBy });
  }

  #judge(stored: StoredTerm): KeptTerm {
    if (stored.handlesAdopted === this.#handlesAdopted) return stored;
    // Written before the thread knew the newest handle: a refusal was one of an older handle.
    const visibleBy = later(stored.visibleBy, this.#visibleBy ?? stored.visibleBy);
    return { ...stored, visibleBy, verdict: stored.verdict === "late" ? "late" : "held" };
  }
}
