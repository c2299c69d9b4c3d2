/** Stripe's test payment methods and what becomes of a charge on each. */

import type { Decline } from "./sandbox-change.ts";

/** What a charge on this card does. */
export interface TestCard {
  readonly brand: string;
  readonly lastDigits: string;
  /** Absent when the charge succeeds. */
  readonly decline?: Decline;
  /** The customer must confirm at the bank, which nobody does in a job. */
  readonly needsAuthentication?: boolean;
}

const declined = (declineCode: string, message = "Your card was declined."): Decline => ({
  code: "card_declined",
  declineCode,
  message,
});

const visa = (lastDigits: string, decline?: Decline): TestCard => ({
  brand: "visa",
  lastDigits,
  ...(decline === undefined ? {} : { decline }),
});

const genericDecline = visa("0002", declined("generic_decline"));
const insufficientFunds = visa(
  "9995",
  declined("insufficient_funds", "Your card has insufficient funds."),
);

/** @see Stripe, "Test your integration": successful payments, declined payments, authentication */
const CARDS: ReadonlyMap<string, TestCard> = new Map<string, TestCard>([
  ["pm_card_visa", visa("4242")],
  ["pm_card_visa_debit", visa("5556")],
  ["pm_card_mastercard", { brand: "mastercard", lastDigits: "4444" }],
  ["pm_card_amex", { brand: "amex", lastDigits: "8431" }],
  ["pm_card_chargeDeclined", genericDecline],
  ["pm_card_visa_chargeDeclined", genericDecline],
  ["pm_card_chargeDeclinedInsufficientFunds", insufficientFunds],
  ["pm_card_visa_chargeDeclinedInsufficientFunds", insufficientFunds],
  ["pm_card_visa_chargeDeclinedLostCard", visa("9987", declined("lost_card"))],
  ["pm_card_visa_chargeDeclinedStolenCard", visa("9979", declined("stolen_card"))],
  [
    "pm_card_chargeDeclinedExpiredCard",
    visa("0069", { code: "expired_card", message: "Your card has expired." }),
  ],
  [
    "pm_card_chargeDeclinedIncorrectCvc",
    visa("0127", { code: "incorrect_cvc", message: "Your card's security code is incorrect." }),
  ],
  [
    "pm_card_chargeDeclinedProcessingError",
    visa("0119", {
      code: "processing_error",
      message: "An error occurred while processing your card. Try again in a little bit.",
    }),
  ],
  ["pm_card_authenticationRequired", { ...visa("3184"), needsAuthentication: true }],
]);

/** The card, or `undefined` when there is no such payment method. */
export function testCard(paymentMethod: string): TestCard | undefined {
  return CARDS.get(paymentMethod);
}
