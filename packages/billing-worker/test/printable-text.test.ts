import { describe, expect, test } from "vitest";
import { isPrintable, printableText } from "../receipt/printable-text.ts";

describe("printableText", () => {
  test.each([
    ["Œuvre & Söhne – “€”", "Œuvre & Söhne – “€”"],
    ["Łódź, Đakovo, İzmir", "Lódz, Dakovo, Izmir"],
    ["e\u0301", "é"],
    ["1\u202f234,5", "1\u00a0234,5"],
    ["a\u200bb\u0007c", "abc"],
    ["株式会社", "????"],
    ["ﬁ ½ ①", "fi ½ 1"],
    ["👍", "?"],
  ])("%j becomes %j", (text, printable) => {
    expect(printableText(text)).toBe(printable);
  });
});

describe("isPrintable", () => {
  test("is true only when a reader would miss nothing", () => {
    expect(isPrintable("1\u202f234,50\u00a0€")).toBe(true);
    expect(isPrintable("10 zł")).toBe(false);
  });
});
