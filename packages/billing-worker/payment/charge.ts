/** The charge of an invoice for other programs: the effect, and the provider that moves the money. */

export { type ChargeParts, type ChargeRecovery, chargeEffect } from "./charge-effect.ts";
export type { BookableCharge, ChargeLimits, InvoiceCharge } from "./charge-invoice.ts";
export { StripePaymentProvider } from "./stripe-payment-provider.ts";
