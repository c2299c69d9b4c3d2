/** How long a job waits for an invoice that it has overtaken. Pure. */

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Jobs overtake their invoices by moments, so the first waits are short; they double, because an
 * invoice that never comes must not cost a request each second.
 */
export function untilIssuedMs(receiveCount: number): number {
  return Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** Math.min(10, receiveCount - 1));
}
