/** The payment provider by Stripe's SDK: charged, refused, not applied, or unknown. */

import type { Clock } from "@leasehold/clock";
import Stripe from "stripe";
import type {
  CallBounds,
  ChargeAnswer,
  ChargeRequest,
  FindAnswer,
  FindRequest,
  PaymentProvider,
} from "./payment-provider.ts";
import { type CallCircumstances, chargeOf, failedCharge, isReplayed } from "./stripe-answer.ts";
import { StripeHttpClient } from "./stripe-http-client.ts";

/** Which account is charged, and where it is. */
export interface StripeAccess {
  /** Starts with `sk_` or `rk_`; a key of test mode for the local payment provider. */
  readonly secretKey: string;
  /** @defaultValue Stripe's API */
  readonly endpoint?: string;
}

/**
 * The ledger is what repeats a charge, with its record of the attempt; an SDK that repeats on its
 * own would multiply the time that an attempt takes, and nobody would know of the second one.
 */
const SDK_RETRIES = 0;

/** One list of a hundred takes about a second; who has more payments since then has a customer. */
const MOST_PAGES = 5;
const PAGE_SIZE = 100;

/** The metadata field that a payment is found by, since Stripe finds none by its idempotency key. */
const KEY_FIELD = "charge_key";

/** A call's own client: it is cheap to make, and it alone knows what went over its wire. */
interface StripeCall {
  readonly stripe: Stripe;
  circumstances(isFirstAttempt: boolean): CallCircumstances;
  [Symbol.dispose](): void;
}

/** Charges cards through payment intents, confirmed off session in the request that makes them. */
export class StripePaymentProvider implements PaymentProvider {
  readonly #access: StripeAccess;
  readonly #clock: Clock;

  /** @throws TypeError when the key is none of Stripe's secret keys; it never shows the key */
  constructor(access: StripeAccess, clock: Clock) {
    if (!/^[sr]k_(?:test|live)_./.test(access.secretKey)) {
      throw new TypeError(
        "the secret key of the payment provider must start with sk_live_, sk_test_, rk_live_ or " +
          "rk_test_: set STRIPE_SECRET_KEY",
      );
    }
    this.#access = access;
    this.#clock = clock;
  }

  async charge(request: ChargeRequest): Promise<ChargeAnswer> {
    using call = this.#call(request);
    try {
      const intent = await call.stripe.paymentIntents.create(parametersOf(request), {
        idempotencyKey: request.key,
      });
      return chargeOf(intent as never, isReplayed(intent.lastResponse.headers));
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
      return failedCharge(error as never, call.circumstances(request.isFirstAttempt));
    }
  }

  /**
   * Looks through the list of payments, which is never behind. Whoever has made more of them than
   * that takes is answered by a search, which may be a minute behind and so proves no absence.
   *
   * @see Stripe API Reference, "Search PaymentIntents": not for reading what was just written
   */
  async find(request: FindRequest): Promise<FindAnswer> {
    using call = this.#call(request);
    try {
      const { intents, isComplete } = await listed(call.stripe, request);
      if (intents.length > 0) return foundAnswer(intents);
      if (isComplete) return { kind: "absent" };
      const query = `metadata['${KEY_FIELD}']:'${request.key}'`;
      const { data } = await call.stripe.paymentIntents.search({
        query,
        expand: ["data.payment_method"],
      });
      return data.length > 0 ? foundAnswer(data) : { kind: "unknown", reason: "too-many-payments" };
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
      const { endedBy } = call.circumstances(false);
      const reason = endedBy ?? error.code ?? error.type;
      return { kind: "unknown", reason, cause: error };
    }
  }

  #call({ timeoutMs, signal }: CallBounds): StripeCall {
    const deadline = new AbortController();
    const cancel = this.#clock.schedule(timeoutMs, () => deadline.abort());
    const client = new StripeHttpClient(AbortSignal.any([deadline.signal, signal]));
    const { secretKey, endpoint } = this.#access;
    return {
      stripe: new Stripe(secretKey, {
        ...(endpoint === undefined ? {} : addressOf(endpoint)),
        httpClient: client,
        maxNetworkRetries: SDK_RETRIES,
        timeout: timeoutMs,
        telemetry: false,
      }),
      circumstances: (isFirstAttempt) => ({
        mayHaveSent: client.mayHaveSent,
        isFirstAttempt,
        ...endedBy(deadline.signal, signal),
      }),
      [Symbol.dispose]: cancel,
    };
  }
}

function parametersOf(request: ChargeRequest): Stripe.PaymentIntentCreateParams {
  const { customer } = request;
  return {
    amount: request.amountMinor,
    currency: request.currency.toLowerCase(),
    payment_method: request.paymentMethod,
    allowed_payment_method_types: ["card"],
    ...(customer === undefined ? {} : { customer }),
    confirm: true,
    // Nobody sits before a job who could confirm at a bank: such a card is declined instead.
    off_session: true,
    error_on_requires_action: true,
    // For the receipt, which names the card.
    expand: ["payment_method"],
    metadata: {
      tenant_id: request.tenantId,
      invoice_id: request.invoiceId,
      invoice_version: String(request.invoiceVersion),
      [KEY_FIELD]: request.key,
    },
  };
}

interface Listed {
  readonly intents: readonly Stripe.PaymentIntent[];
  /** Whether every payment since then was looked at. */
  readonly isComplete: boolean;
}

async function listed(stripe: Stripe, request: FindRequest): Promise<Listed> {
  const { key, sinceAtMs, customer } = request;
  const intents: Stripe.PaymentIntent[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await stripe.paymentIntents.list({
      created: { gte: Math.floor(sinceAtMs / 1000) },
      limit: PAGE_SIZE,
      expand: ["data.payment_method"],
      ...(customer === undefined ? {} : { customer }),
      ...(after === undefined ? {} : { starting_after: after }),
    });
    intents.push(...page.data.filter(({ metadata }) => metadata[KEY_FIELD] === key));
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return { intents, isComplete: true };
  }
  return { intents, isComplete: false };
}

/** Money that moved outweighs every refusal; of several payments the first is the rightful one. */
function foundAnswer(newestFirst: readonly Stripe.PaymentIntent[]): FindAnswer {
  const answers = newestFirst.map((intent) => chargeOf(intent as never, true)).reverse();
  const [payment, ...duplicates] = answers.filter((answer) => answer.kind === "charged");
  if (payment !== undefined) {
    return { ...payment, duplicatePaymentIds: duplicates.map(({ paymentId }) => paymentId) };
  }
  const open = answers.find((answer) => answer.kind === "unknown");
  if (open !== undefined) return { kind: "unknown", reason: open.reason };
  return answers.find((answer) => answer.kind === "rejected") ?? { kind: "absent" };
}

function addressOf(endpoint: string): Stripe.StripeConfig {
  const { hostname, port, protocol } = new URL(endpoint);
  return {
    host: hostname,
    port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port),
    protocol: protocol === "http:" ? "http" : "https",
  };
}

function endedBy(deadline: AbortSignal, signal: AbortSignal): Pick<CallCircumstances, "endedBy"> {
  if (signal.aborted) return { endedBy: "stopped" };
  return deadline.aborted ? { endedBy: "timed-out" } : {};
}
