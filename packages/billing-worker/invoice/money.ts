/** Money in whole minor units: decimals of each currency, rounding, and how it is shown. Pure. */

import { InvoiceAmountError } from "../errors.ts";

/** A currency that this service bills in. */
export type CurrencyCode =
  | "AUD"
  | "BHD"
  | "CAD"
  | "CHF"
  | "CZK"
  | "DKK"
  | "EUR"
  | "GBP"
  | "JPY"
  | "KRW"
  | "KWD"
  | "NOK"
  | "PLN"
  | "SEK"
  | "TND"
  | "USD";

/** Decimals of each (ISO 4217, "minor unit"); `Intl` follows another list for some currencies. */
const CURRENCY_DECIMALS: Readonly<Record<CurrencyCode, number>> = {
  ...{ JPY: 0, KRW: 0 },
  ...{ AUD: 2, CAD: 2, CHF: 2, CZK: 2, DKK: 2, EUR: 2, GBP: 2, NOK: 2, PLN: 2, SEK: 2, USD: 2 },
  ...{ BHD: 3, KWD: 3, TND: 3 },
};

/** All of them, in alphabetical order. */
export const currencyCodes: readonly CurrencyCode[] = Object.freeze(
  (Object.keys(CURRENCY_DECIMALS) as CurrencyCode[]).sort(),
);

/** How many decimals the currency has: 0 for JPY, 2 for EUR, 3 for KWD. */
function currencyDecimals(currency: CurrencyCode): number {
  return CURRENCY_DECIMALS[currency];
}

/**
 * The quotient as a whole number; a half goes away from zero (2.5 is 3, -2.5 is -3), so that a
 * credit cancels the charge that it mirrors.
 * @param divisor - above zero
 */
export function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n;
  const magnitude = isNegative ? -dividend : dividend;
  const rounded = (2n * magnitude + divisor) / (2n * divisor);
  return isNegative ? -rounded : rounded;
}

/**
 * An exact amount as a number, which is how it is stored and compared.
 * @param what - names the amount in the error, for example `"total"`
 * @throws InvoiceAmountError when a number could not hold it exactly
 */
export function toMinorUnits(amount: bigint, what: string): number {
  const minorUnits = Number(amount);
  if (!Number.isSafeInteger(minorUnits)) {
    throw new InvoiceAmountError(
      `${what} must lie within +/-${Number.MAX_SAFE_INTEGER} minor units, got ${amount}`,
    );
  }
  return minorUnits;
}

/** The amount as people write it in that locale: `EUR, 123456, "de-DE"` is `1.234,56 €`. */
export function formatMoney(
  minorUnits: number,
  currency: CurrencyCode,
  locale: string,
  currencyDisplay: "symbol" | "code" = "symbol",
): string {
  const decimals = currencyDecimals(currency);
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay,
    numberingSystem: "latn",
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(decimalText(minorUnits, decimals));
}

/** The amount with a point and all its decimals, exact at every size: `-0.05`. */
export function decimalText(minorUnits: number, decimals: number): Intl.StringNumericLiteral {
  const digits = String(Math.abs(minorUnits)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? "" : `.${digits.slice(-decimals)}`;
  return `${minorUnits < 0 ? "-" : ""}${whole}${fraction}` as Intl.StringNumericLiteral;
}
