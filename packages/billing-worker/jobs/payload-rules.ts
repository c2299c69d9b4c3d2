/** What the fields of this service's payloads may be, shared by its jobs. */

import { z } from "zod";
import { isQuantity } from "../invoice/invoice-math.ts";
import { type CurrencyCode, currencyCodes } from "../invoice/money.ts";

/** Half the room of a job id, because a child's identity adds to it. */
const MAX_INVOICE_ID_CHARACTERS = 100;

/** A printable text of one line. */
export function line(maxCharacters: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must be one line of text");
}

/** An invoice's id, unique within its tenant. */
export const invoiceId: z.ZodString = line(MAX_INVOICE_ID_CHARACTERS).regex(
  /^\S(?:.*\S)?$/u,
  "must not start or end with white space",
);

/** A currency that this service bills in. */
export const currency: z.ZodType<CurrencyCode> = z.enum(currencyCodes as [CurrencyCode]);

/** A whole number of minor units that a double holds exactly. */
export const minorUnits: z.ZodInt = z.int();

/** A decimal text above zero. */
export const quantity: z.ZodType<string> = z
  .string()
  .refine(isQuantity, "must be a decimal text above 0, at most nine digits and three decimals");

/** A language tag that the runtime knows how to format numbers in. */
export const locale: z.ZodType<string> = z.string().max(35).refine(isLocale, "must be a locale");

function isLocale(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length === 1;
  } catch {
    // The tag is not even well-formed.
    return false;
  }
}
