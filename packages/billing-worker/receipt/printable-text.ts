/** Texts as the PDF's built-in fonts can print them. Pure. */

/** What WinAnsi has beyond Latin-1 (ISO 32000, annex D). */
const BEYOND_LATIN_1 = new Set("€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ");

/** Signs that differ from a printable one in nothing that a reader sees. */
const SAME_TO_THE_EYE: Readonly<Record<string, string>> = {
  "\u2009": " ",
  "\u202f": "\u00a0",
  "\u2010": "-",
  "\u2011": "-",
  "\u2212": "-",
  "\u200e": "",
  "\u200f": "",
  "\uffe5": "¥",
};

/** Characters whose nearest printable form does not come from taking off their accents. */
const NEAREST: Readonly<Record<string, string>> = {
  Ł: "L",
  ł: "l",
  Đ: "D",
  đ: "d",
  Ħ: "H",
  ħ: "h",
  ı: "i",
  ẞ: "SS",
  "\u2044": "/",
};

/** Stands for what has no near form at all, for example Chinese characters. */
const UNPRINTABLE = "?";

/**
 * The text in the characters of the built-in fonts: accents that they lack are taken off (`Łódź` is
 * `Lódz`), invisible characters dropped, and what remains is `?`. The invoice itself keeps the text.
 */
export function printableText(text: string): string {
  return Array.from(text.normalize("NFC"), nearestPrintable).join("");
}

/** Whether `printableText` loses nothing that a reader would miss. */
export function isPrintable(text: string): boolean {
  return Array.from(text.normalize("NFC")).every(
    (character) => isInFont(character) || SAME_TO_THE_EYE[character] !== undefined,
  );
}

function nearestPrintable(character: string): string {
  if (isInFont(character)) return character;
  const nearest = SAME_TO_THE_EYE[character] ?? NEAREST[character];
  if (nearest !== undefined) return nearest;
  if (/^[\p{Cc}\p{Cf}\p{Mn}]$/u.test(character)) return "";
  const bare = Array.from(character.normalize("NFKD")).filter(isInFont).join("");
  return bare === "" ? UNPRINTABLE : bare;
}

function isInFont(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const isLatin1 = (code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff);
  return isLatin1 || BEYOND_LATIN_1.has(character);
}
