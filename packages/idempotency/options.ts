/** What a caller may choose about the ledger, the defaults, and the ranges that make sense. */

import { count, durationMs, resolveOptions } from "@leasehold/options";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** How the ledger keeps and judges records. */
export interface LedgerOptions {
  /**
   * How long a record is kept after its job ended, or was last seen.
   * @defaultValue 35 days: twice the longest retention of SQS, and a week for redrives
   */
  readonly retentionMs?: number;
  /**
   * How much earlier than its expiry a record counts as lost: the age from which a job without a
   * record is left to an operator.
   * @defaultValue 1 day
   */
  readonly expirySlackMs?: number;
  /** When the table was last restored from a backup, Unix time. @defaultValue 0: never */
  readonly restoredAtMs?: number;
  /** By how much the clocks of two workers may differ. @defaultValue 5_000 */
  readonly ledgerSkewMs?: number;
  /** How long after an attempt's deadline it may still show at a provider. @defaultValue 60_000 */
  readonly settleMs?: number;
  /** By how much the lease must outlast an effect's `timeoutMs`. @defaultValue 2_000 */
  readonly effectMarginMs?: number;
  /** How long a write before an effect is tried before the store counts as down. @defaultValue 3_000 */
  readonly writePatienceMs?: number;
  /** The longest pause between two tries of a completion. @defaultValue 5_000 */
  readonly longestPauseMs?: number;
  /** The longest that a delivery of a busy job is put off. @defaultValue 900_000 */
  readonly longestBusyMs?: number;
  /**
   * After how many calls on end that found an effect's provider down its jobs are held back; 0: never.
   * @defaultValue 3: one lost answer is nothing, and two may be one broken connection
   */
  readonly circuitFailures?: number;
  /** How long they are held at first; doubled each time a probe fails. @defaultValue 5_000 */
  readonly circuitFirstPauseMs?: number;
  /** The longest pause before a probe. @defaultValue 60_000 */
  readonly circuitLongestPauseMs?: number;
  /**
   * The longest pause that a provider is granted when it asks for one: a header in another unit, or a
   * date by a wrong clock, must not stop a type for days. @defaultValue 3_600_000: one hour
   */
  readonly longestQuietMs?: number;
  /**
   * From when on calls that find the provider down count as failures of their jobs all the same, so
   * that a job which brings it down by itself comes to an end. @defaultValue 43_200_000: half a day
   */
  readonly outageForgivenMs?: number;
  /** The longest result or checkpoint that is kept in the record, in bytes of JSON. @defaultValue 4_096 */
  readonly inlineBytes?: number;
  /** The longest message that is kept in the record of a parked job, in bytes. @defaultValue 262_144 */
  readonly parkedMessageBytes?: number;
}

/** Every option, resolved. */
export type ResolvedLedgerOptions = Required<LedgerOptions>;

/** @throws InvalidOptionsError naming every problem */
export function resolveLedgerOptions(options: LedgerOptions = {}): ResolvedLedgerOptions {
  return resolveOptions<ResolvedLedgerOptions>(
    "ledger",
    { ...options },
    {
      retentionMs: durationMs(35 * DAY, { min: MINUTE, max: 3_650 * DAY }),
      expirySlackMs: durationMs(({ retentionMs }) => Math.min(DAY, Number(retentionMs) / 2), {
        min: 0,
        max: 365 * DAY,
      }),
      restoredAtMs: durationMs(0, { min: 0, max: Number.MAX_SAFE_INTEGER }),
      ledgerSkewMs: durationMs(5 * SECOND, { min: 0, max: 10 * MINUTE }),
      settleMs: durationMs(MINUTE, { min: 0, max: DAY }),
      effectMarginMs: durationMs(2 * SECOND, { min: 0, max: MINUTE }),
      writePatienceMs: durationMs(3 * SECOND, { min: 10, max: MINUTE }),
      longestPauseMs: durationMs(5 * SECOND, { min: 10, max: MINUTE }),
      longestBusyMs: durationMs(15 * MINUTE, { min: SECOND, max: 12 * 60 * MINUTE }),
      circuitFailures: count(3, { min: 0, max: 1_000 }),
      circuitFirstPauseMs: durationMs(5 * SECOND, { min: 100, max: 10 * MINUTE }),
      circuitLongestPauseMs: durationMs(
        ({ circuitFirstPauseMs }) => Math.max(MINUTE, Number(circuitFirstPauseMs)),
        { min: 100, max: 60 * MINUTE },
      ),
      longestQuietMs: durationMs(60 * MINUTE, { min: SECOND, max: 12 * 60 * MINUTE }),
      outageForgivenMs: durationMs(DAY / 2, { min: 0, max: 30 * DAY }),
      inlineBytes: count(4_096, { min: 0, max: 65_536 }),
      parkedMessageBytes: count(262_144, { min: 0, max: 350_000 }),
    },
    ({ retentionMs, expirySlackMs }) =>
      expirySlackMs < retentionMs
        ? []
        : [`expirySlackMs (${expirySlackMs}) must be below retentionMs (${retentionMs})`],
  );
}
