/** Ids that sort by their time, for jobs whose producer has no business identity for them. */

import { randomBytes } from "node:crypto";
import type { Clock } from "@leasehold/clock";

const COUNTER_LIMIT = 0x1000;
/** The first counter of a millisecond lies in its lower half, so that there is room to count. */
const FIRST_COUNTER_LIMIT = 0x800;

/**
 * Makes UUIDs of version 7: 48 bits of Unix time, 12 bits that count within a millisecond, 62 random
 * bits. Each is greater than the one before, also when the wall clock is stepped back.
 *
 * @see RFC 9562, section 6.2, method 1
 */
export function createUuidV7(clock: Clock): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const nowMs = Math.floor(clock.wallMs());
    const bytes = randomBytes(10);
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = bytes.readUInt16BE(8) % FIRST_COUNTER_LIMIT;
    } else {
      counter += 1;
      if (counter === COUNTER_LIMIT) {
        lastMs += 1;
        counter = 0;
      }
    }
    bytes[0] = 0x80 | ((bytes[0] ?? 0) & 0x3f);
    return format(lastMs, counter, bytes.toString("hex", 0, 8));
  };
}

function format(unixMs: number, counter: number, random: string): string {
  const time = unixMs.toString(16).padStart(12, "0");
  const count = counter.toString(16).padStart(3, "0");
  const groups = [
    time.slice(0, 8),
    time.slice(8),
    `7${count}`,
    random.slice(0, 4),
    random.slice(4),
  ];
  return groups.join("-");
}
