import { describe, expect, test } from "vitest";
import type { InvoiceLine } from "../invoice/invoice.ts";
import { renderReceipt } from "../receipt/receipt-pdf.ts";
import { readPdf } from "./read-pdf.ts";
import { paid } from "./sample-invoice.ts";

function manyLines(count: number): InvoiceLine[] {
  return Array.from({ length: count }, (_, index) => ({
    description: `Position ${index + 1}`,
    quantity: "1",
    unitPriceMinor: 100,
    taxRateBasisPoints: 1900,
  }));
}

describe("renderReceipt", () => {
  test("shows seller, buyer, lines, sums and page number", async () => {
    const { pages } = readPdf(await renderReceipt(paid()));

    expect(pages).toHaveLength(1);
    expect(pages[0]).toEqual(
      expect.arrayContaining([
        ...["RECEIPT", "Nordlicht Netze GmbH", "Tax ID DE 318 204 771", "Łódź Textile Works S.A."],
        ...["INV-7", "15 January 2026", "Paid in full on 20 January 2026", "Visa ending 4242"],
        ...["Consulting", "2,5 h", "140,00\u00a0€", "19\u00a0%", "350,00\u00a0€"],
        ...["Subtotal", "368,00\u00a0€", "Tax 7\u00a0% on 18,00\u00a0€", "1,26\u00a0€"],
        ...["Tax 19\u00a0% on 350,00\u00a0€", "66,50\u00a0€", "Total paid", "435,76\u00a0€"],
        "Page 1 of 1",
      ]),
    );
  });

  test("says for programs which invoice it is and what was paid", async () => {
    const { info } = readPdf(await renderReceipt(paid({ invoiceId: "A;total=1" })));

    expect(info).toEqual({
      Title: "Receipt A;total=1",
      Author: expect.any(String),
      CreationDate: "D:20260120100000Z",
      Keywords:
        "invoice=A%3Btotal%3D1;tenant=nordlicht;version=2;currency=EUR;total=43576;paid=43576",
    });
  });

  test("goes on over many pages, each with its head and its number, and loses no line", async () => {
    const { pages } = readPdf(await renderReceipt(paid({ lines: manyLines(100) })));

    expect(pages).toHaveLength(4);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain(`Page ${index + 1} of 4`);
      expect(page).toContain("Description");
    }
    const positions = pages.flat().filter((text) => text.startsWith("Position"));
    expect(positions).toEqual(manyLines(100).map(({ description }) => description));
    expect(pages.flat().filter((text) => text === "Total paid")).toHaveLength(1);
  });

  test("makes the same bytes of the same invoice", async () => {
    const [first, second] = await Promise.all([renderReceipt(paid()), renderReceipt(paid())]);

    expect(Buffer.compare(first, second)).toBe(0);
  });

  test("makes the same bytes whatever was rendered before it", async () => {
    const lines = [
      { description: "ﬁ 1⁄2 ½ ị ĩ Ǻ ṣ", quantity: "1", unitPriceMinor: 1, taxRateBasisPoints: 0 },
    ];
    const before = await renderReceipt(paid());
    await renderReceipt(paid({ lines }));

    expect(Buffer.compare(before, await renderReceipt(paid()))).toBe(0);
  });

  test.each([
    ["Polish", "Zażółć Gęślą-Jaźń, Łódź"],
    ["Turkish", "İsmail Işık Çağrı Şengöğüş"],
    ["Greek", "Γιώργος Παπαδόπουλος, Ἀθῆναι"],
    ["Cyrillic", "Наталія Ґалаґан-Щербакова ЂЈЉЊ"],
    ["Vietnamese", "Nguyễn Thị Phượng, đường Lê Lợi"],
    ["Lithuanian with an accent of its own", "Ą̃žuolas J̃"],
  ])("a %s name is read as it was written, in bold and in regular", async (_, name) => {
    const party = { name, addressLines: [name] };

    const { info, pages } = readPdf(await renderReceipt(paid({ seller: party, buyer: party })));

    expect(pages[0]?.filter((text) => text === name)).toHaveLength(5);
    expect(info["Author"]).toBe(name);
  });

  test("shows that letters are missing where the fonts lack them", async () => {
    const buyer = { name: "株式会社 Kaede", addressLines: ["محمد"] };

    const { pages } = readPdf(await renderReceipt(paid({ buyer })));

    expect(pages[0]).toEqual(expect.arrayContaining(["���� Kaede", "����"]));
  });

  test("writes the sign of a currency, or its code where the fonts lack the sign", async () => {
    const polish = readPdf(await renderReceipt(paid({ currency: "PLN", locale: "pl-PL" })));
    const arabic = readPdf(await renderReceipt(paid({ currency: "KWD", locale: "ar-KW" })));

    expect(polish.pages[0]).toContain("435,76\u00a0zł");
    expect(arabic.pages[0]).toContain("43.576\u00a0KWD");
  });

  test("keeps the longest texts and the largest amounts in their places", async () => {
    const lines = [
      {
        description: "W".repeat(120),
        quantity: "99999999.999",
        unit: "kilogrammes",
        unitPriceMinor: 9_000_000,
        taxRateBasisPoints: 825,
      },
    ];
    const seller = { name: "W".repeat(80), addressLines: Array(6).fill("M".repeat(60)) };
    const bytes = await renderReceipt(
      paid({ lines, seller, buyer: seller, currency: "KWD", note: "W ".repeat(200) }),
    );

    const { pages } = readPdf(bytes);
    expect(pages).toHaveLength(1);
    expect(pages[0]).toContain("899.999.999.991,000\u00a0KWD");
    expect(pages[0]).toContain("974.249.999.990,258\u00a0KWD");
  });
});
