/** Texts as the receipt's fonts can print them. */

import { isInFonts } from "./receipt-fonts.ts";

/** Stands for a letter that the fonts lack: a reader sees that one is missing, not another one. */
const MISSING = "\ufffd";

/** What a reader sees as one letter, for example a base with all its accents. */
const letters = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * The text in characters that the fonts have. Invisible characters are dropped, a rare blank is a
 * common one; each letter that the fonts lack is `\ufffd`, never a similar one: a name without its
 * accents is the name of somebody else. The invoice itself keeps the text.
 */
export function printableText(text: string): string {
  return lettersOf(text)
    .map((letter) => inFonts(letter) ?? MISSING)
    .join("");
}

/** Whether `printableText` loses nothing that a reader would miss. */
export function isPrintable(text: string): boolean {
  return lettersOf(text).every((letter) => inFonts(letter) !== undefined);
}

/** The text letter by letter; what is cut between two of them stays readable. */
export function lettersOf(text: string): string[] {
  return Array.from(letters.segment(text.normalize("NFC")), ({ segment }) => segment);
}

function inFonts(letter: string): string | undefined {
  const printed = Array.from(letter, commonForm).join("");
  return Array.from(printed).every(isInFonts) ? printed : undefined;
}

function commonForm(character: string): string {
  if (/^[\p{Cc}\p{Cf}\p{DI}]$/u.test(character)) return "";
  if (isInFonts(character)) return character;
  if (/^\p{Zs}$/u.test(character)) return " ";
  // Forms of East Asian typesetting differ from the common ones only in their width.
  if (/^[\uff01-\uffee]$/u.test(character)) return character.normalize("NFKC");
  return character;
}
