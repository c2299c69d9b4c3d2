/** The charge of an invoice as an effect that happens once: how it is run, and what to do in doubt. */

import {
  type Effect,
  isOutage,
  type Lookup,
  NotSentError,
  park,
  query,
  type Recovery,
  RejectedError,
  replay,
} from "@leasehold/job";
import {
  type BookableCharge,
  CHARGE_LIMITS,
  type ChargeCall,
  chargeInvoice,
  findCharge,
  type InvoiceCharge,
  KEY_WINDOW_MS,
} from "./charge-invoice.ts";
import type { ChargeAnswer, Charged, PaymentProvider } from "./payment-provider.ts";

/**
 * What to do with a charge of which nobody knows whether it happened. Only `replay` is safe whatever
 * the clocks say: the provider itself makes the second request the first one; once it may have
 * forgotten the key, an operator decides. `query` waits until nothing should land any more.
 */
export type ChargeRecovery = "replay" | "query" | "park";

/**
 * Stripe's SDKs give a request 80 seconds by default; what was executed for longer than this after
 * its client gave up has never been heard of, and is what the alarm for duplicates is for.
 */
const SETTLE_MS = 120_000;

/** How long to leave a provider alone that has turned a request away without a word on when to come. */
const RATE_LIMIT_MS = 1_000;

/** What charges, and who hears of money that was taken once too often. */
export interface ChargeParts {
  readonly provider: PaymentProvider;
  /**
   * How long a charge may still show at the provider after its attempt was over.
   * @defaultValue 120_000
   */
  readonly settleMs?: number;
  readonly alarm: (duplicatePaymentIds: readonly string[]) => void;
}

/** The effect `charge` of a job. Its record is kept for ever. */
export function chargeEffect(
  parts: ChargeParts,
  charge: InvoiceCharge,
  recovery: ChargeRecovery = "replay",
): Effect<Charged, BookableCharge> {
  const { chargeMs, findMs } = charge.limits ?? CHARGE_LIMITS;
  return {
    timeoutMs: chargeMs + findMs,
    recover: recoveryOf(parts, charge, recovery),
    run: async (call) => {
      const charged = moneyMoved(await chargeInvoice(parts.provider, charge, call));
      return reported(charged, parts);
    },
    pick: ({ paymentId, amountMinor, currency, chargedAtMs, method }) => {
      return { paymentId, amountMinor, currency, chargedAtMs, method };
    },
    reference: ({ paymentId }) => paymentId,
    tombstone: true,
    // Refused credentials, too, are refused to every job until somebody changes them.
    isOutage: (thrown) => thrown instanceof NotSentError || isOutage(thrown),
  };
}

function recoveryOf(
  parts: ChargeParts,
  charge: InvoiceCharge,
  recovery: ChargeRecovery,
): Recovery<Charged> {
  switch (recovery) {
    case "replay":
      return replay({ windowMs: KEY_WINDOW_MS, after: park() });
    case "query":
      return query((call) => lookUp(parts, charge, call), {
        settleMs: parts.settleMs ?? SETTLE_MS,
      });
    case "park":
      return park();
  }
}

/** A refusal has moved no money: asked again under the same key, the provider refuses again. */
async function lookUp(
  parts: ChargeParts,
  charge: InvoiceCharge,
  call: Pick<ChargeCall, "key" | "signal">,
): Promise<Lookup<Charged>> {
  const found = await findCharge(parts.provider, charge, call);
  if (found.kind === "charged") return { kind: "applied", result: reported(found, parts) };
  if (found.kind === "unknown") {
    const { reason, cause } = found;
    throw new Error(`the provider's books do not tell: ${reason}`, { cause });
  }
  return { kind: "absent" };
}

/**
 * @throws NotSentError when this request moved nothing; with the time that the provider asks for
 * @throws RejectedError when the provider has said no for good
 * @throws Error in every other case, which means that nobody knows
 */
function moneyMoved(answer: ChargeAnswer): Charged {
  switch (answer.kind) {
    case "charged":
      return answer;
    case "rejected":
      throw new RejectedError(answer.reason, `the payment was refused: ${answer.reason}`);
    case "not-applied": {
      const { why, problem, retryAfterMs, cause } = answer;
      // A limit without a time is one all the same.
      const asked = retryAfterMs ?? (why === "rate-limited" ? RATE_LIMIT_MS : undefined);
      throw new NotSentError(problem, {
        cause,
        ...(asked !== undefined && { retryAfterMs: asked }),
      });
    }
    case "unknown":
      throw new Error(`the outcome of the charge is unknown: ${answer.reason}`, {
        cause: answer.cause,
      });
  }
}

function reported(charged: Charged, { alarm }: ChargeParts): Charged {
  if (charged.duplicatePaymentIds.length > 0) alarm(charged.duplicatePaymentIds);
  return charged;
}
