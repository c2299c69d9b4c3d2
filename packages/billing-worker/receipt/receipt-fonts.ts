/** The typeface of receipts, and which characters it has. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { create, type Font } from "fontkit";

/** The weights that receipts use. */
export type Weight = "regular" | "bold";

const require = createRequire(import.meta.url);

/**
 * Noto Sans: Latin with all its accents, Greek, Cyrillic. Opened once for each thread: its layout
 * tables take far longer to read than a receipt takes to draw.
 */
const fonts: Readonly<Record<Weight, Font>> = {
  regular: openFont(
    require.resolve("@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf"),
  ),
  bold: openFont(require.resolve("@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf")),
};

/** Makes both weights known to a document by their names. */
export function registerFonts(document: PDFKit.PDFDocument): void {
  for (const [weight, font] of Object.entries(fonts)) {
    // pdfkit takes an open font as well; its types know only files.
    document.registerFont(weight, font as unknown as Buffer);
  }
}

/**
 * Whether both weights have it: a name stands in bold above and in regular below. Devanagari is
 * left out, because its glyphs stand for no single characters.
 */
export function isInFonts(character: string): boolean {
  const codePoint = character.codePointAt(0);
  if (codePoint === undefined || /^\p{scx=Devanagari}$/u.test(character)) return false;
  return Object.values(fonts).every((font) => font.hasGlyphForCodePoint(codePoint));
}

/**
 * What puts one glyph for several characters or several for one (`fi` in one, `ị` as `i` and a dot).
 * Left out: a reader of the PDF's text would find `ị` wherever an `i` stands.
 */
const FEATURES = { ccmp: false, liga: false };

function openFont(path: string): Font {
  const font = create(readFileSync(path));
  if ("fonts" in font) throw new TypeError(`${path} holds several fonts`);
  // A glyph keeps the character that it was first asked for, or none if that was as a part of
  // another glyph. Asked here, what it stands for does not depend on the receipts before.
  for (const codePoint of font.characterSet) font.glyphForCodePoint(codePoint);
  const layout = font.layout.bind(font);
  font.layout = (text) => layout(text, FEATURES);
  return font;
}
