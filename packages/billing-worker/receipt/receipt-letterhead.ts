/** The upper part of a receipt: who was paid by whom, how much and when. */

import { ink, setLine, sheet } from "./receipt-sheet.ts";
import type { ReceiptText } from "./receipt-text.ts";

const MONOGRAM_SIZE = 42;
const LINE_HEIGHT = 12;
const FACTS_LEFT = 350;
const FACT_LABEL_WIDTH = 56;
const BAND_HEIGHT = 58;

/** Draws it at the top of the first page. @returns where the table may begin */
export function drawLetterhead(document: PDFKit.PDFDocument, text: ReceiptText): number {
  document.rect(0, 0, sheet.width, 7).fill(ink.accent);
  const sellerEnd = drawSeller(document, text);
  setLine(
    document,
    "RECEIPT",
    { x: FACTS_LEFT, y: sheet.top + 4, width: sheet.right - FACTS_LEFT },
    { size: 22, bold: true, color: ink.accent, align: "right", characterSpacing: 2 },
  );
  const partiesTop = Math.max(sellerEnd, sheet.top + MONOGRAM_SIZE) + 28;
  const buyerEnd = drawBuyer(document, text, partiesTop);
  const factsEnd = drawFacts(document, text, partiesTop);
  return drawBand(document, text, Math.max(buyerEnd, factsEnd) + 20) + 24;
}

/** The line that tells a later page whose it is. @returns where the table may go on */
export function drawRunningHead(document: PDFKit.PDFDocument, text: ReceiptText): number {
  document.rect(0, 0, sheet.width, 7).fill(ink.accent);
  const style = { size: 8.5, color: ink.muted } as const;
  const width = (sheet.right - sheet.left) / 2 - 10;
  const invoice = text.facts[0]?.text ?? "";
  setLine(document, text.sellerName, { x: sheet.left, y: 30, width }, { ...style, bold: true });
  setLine(
    document,
    `Receipt for invoice ${invoice}, continued`,
    { x: sheet.right - width, y: 30, width },
    { ...style, align: "right" },
  );
  return sheet.top + 6;
}

function drawSeller(document: PDFKit.PDFDocument, text: ReceiptText): number {
  document.roundedRect(sheet.left, sheet.top, MONOGRAM_SIZE, MONOGRAM_SIZE, 5).fill(ink.accent);
  setLine(
    document,
    initials(text.sellerName),
    { x: sheet.left, y: sheet.top + 14, width: MONOGRAM_SIZE },
    { size: 17, bold: true, color: "#ffffff", align: "center" },
  );
  const x = sheet.left + MONOGRAM_SIZE + 14;
  const width = FACTS_LEFT - x - 12;
  setLine(document, text.sellerName, { x, y: sheet.top + 1, width }, { size: 15, bold: true });
  let y = sheet.top + 22;
  for (const line of text.sellerLines) {
    setLine(document, line, { x, y, width }, { size: 8.5, color: ink.muted });
    y += LINE_HEIGHT;
  }
  return y;
}

function drawBuyer(document: PDFKit.PDFDocument, text: ReceiptText, top: number): number {
  const place = { x: sheet.left, width: FACTS_LEFT - sheet.left - 24 };
  drawCaption(document, "BILLED TO", { ...place, y: top });
  setLine(document, text.buyerName, { ...place, y: top + 15 }, { size: 10.5, bold: true });
  let y = top + 30;
  for (const line of text.buyerLines) {
    setLine(document, line, { ...place, y }, { size: 9 });
    y += LINE_HEIGHT + 0.5;
  }
  return y;
}

function drawFacts(document: PDFKit.PDFDocument, text: ReceiptText, top: number): number {
  drawCaption(document, "DETAILS", { x: FACTS_LEFT, y: top, width: FACT_LABEL_WIDTH });
  const x = FACTS_LEFT + FACT_LABEL_WIDTH;
  let y = top + 16;
  for (const { label, text: value } of text.facts) {
    const labelPlace = { x: FACTS_LEFT, y, width: FACT_LABEL_WIDTH };
    setLine(document, label, labelPlace, { size: 9, color: ink.muted });
    setLine(document, value, { x, y, width: sheet.right - x }, { size: 9, align: "right" });
    y += LINE_HEIGHT + 2.5;
  }
  return y;
}

function drawBand(document: PDFKit.PDFDocument, text: ReceiptText, top: number): number {
  const width = sheet.right - sheet.left;
  document.roundedRect(sheet.left, top, width, BAND_HEIGHT, 5).fill(ink.tint);
  document.rect(sheet.left, top + 5, 3, BAND_HEIGHT - 10).fill(ink.accent);
  const x = sheet.left + 18;
  drawCaption(document, "AMOUNT PAID", { x, y: top + 12, width: 200 });
  setLine(document, text.total, { x, y: top + 26, width: 260 }, { size: 19, bold: true });
  setLine(
    document,
    text.paidLine,
    { x: x + 270, y: top + 31, width: sheet.right - x - 270 - 16 },
    { size: 10, color: ink.accent, bold: true, align: "right" },
  );
  return top + BAND_HEIGHT;
}

function drawCaption(
  document: PDFKit.PDFDocument,
  caption: string,
  place: { readonly x: number; readonly y: number; readonly width: number },
): void {
  setLine(document, caption, place, {
    size: 7.5,
    bold: true,
    color: ink.muted,
    characterSpacing: 0.9,
  });
}

/** The first letters of the first two words; legal forms such as "GmbH" come later in a name. */
function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return words
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("");
}
