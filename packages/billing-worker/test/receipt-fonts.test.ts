import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { describe, expect, test } from "vitest";
import { isInFonts, registerFonts, type Weight } from "../receipt/receipt-fonts.ts";
import { readPdf } from "./read-pdf.ts";

/** What a reader finds in a document of these texts. */
async function readBack(weight: Weight, texts: readonly string[]): Promise<readonly string[]> {
  const document = new PDFDocument({ pdfVersion: "1.3" });
  registerFonts(document);
  const pdf = buffer(document);
  document.font(weight, 1);
  for (const text of texts) document.text(text, 0, 0, { lineBreak: false });
  document.end();
  return readPdf(await pdf).pages[0] ?? [];
}

/** Every character that can be printed as it is: no controls, no parts of letters. */
function printableCharacters(): string[] {
  return Array.from({ length: 0xffff }, (_, codePoint) => String.fromCodePoint(codePoint))
    .filter((character) => /^[^\p{C}\p{M}\p{Zl}\p{Zp}\p{DI}]$/u.test(character))
    .filter(isInFonts);
}

describe.each(["regular", "bold"] as const)("the %s font", (weight) => {
  test("reads a letter as itself although it was a part of another one before", async () => {
    await readBack(weight, ["Ĵ", "Ẅ", "Ŷ", "ĥ"]);

    expect(await readBack(weight, ["J", "W", "Y", "h"])).toEqual(["J", "W", "Y", "h"]);
  });

  test("reads each of its characters as itself", async () => {
    const all = printableCharacters();

    expect(await readBack(weight, all)).toEqual(all);
    expect(all.length).toBeGreaterThan(2500);
  });

  test.each(["ﬁ fi ffl ﬄ", "¹ 1⁄2 ₂ ½", "Thị Thi", "ǹn ṣs"])(
    "reads %j as it was set",
    async (text) => {
      expect(await readBack(weight, [text])).toEqual([text]);
    },
  );
});

describe("isInFonts", () => {
  test("knows the letters of European names and no scripts that the fonts cannot shape", () => {
    expect([..."ŁőşİΆЩґỆ€₴�…"].every(isInFonts)).toBe(true);
    expect([..."株مעक"].some(isInFonts)).toBe(false);
  });
});
