import { describe, expect, test } from "vitest";
import { isPrintable, lettersOf, printableText } from "../receipt/printable-text.ts";

describe("printableText", () => {
  test.each([
    ["Łódź, Đakovo, İzmir", "Łódź, Đakovo, İzmir"],
    ["Ελλάς, Київ, Œuvre – “€”", "Ελλάς, Київ, Œuvre – “€”"],
    ["e\u0301", "é"],
    ["x\u030c", "x\u030c"],
    ["a\u200bb\u0007c\ufe0f", "abc"],
    ["1\u3000234", "1 234"],
    ["ＡＢＣ￥", "ABC¥"],
    ["株式会社", "����"],
    ["①", "�"],
    ["क्षि", "�"],
    ["👩‍👩‍👧!", "�!"],
  ])("%j becomes %j", (text, printable) => {
    expect(printableText(text)).toBe(printable);
  });

  test("replaces a letter as a whole when the fonts lack its accent", () => {
    expect(printableText("ae\u20ddb")).toBe("a�b");
  });
});

describe("isPrintable", () => {
  test("is true only when a reader would miss nothing", () => {
    expect(isPrintable("1\u202f234,50\u00a0zł")).toBe(true);
    expect(isPrintable("10 د.ك.")).toBe(false);
  });
});

describe("lettersOf", () => {
  test("keeps a letter and its accents together", () => {
    expect(lettersOf("Łx\u030c…")).toEqual(["Ł", "x\u030c", "…"]);
  });
});
