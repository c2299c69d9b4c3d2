/** The table of a receipt: its head on every page, its rows, and the sums below. */

import { drawRule, ink, paragraphHeight, setLine, setParagraph, sheet } from "./receipt-sheet.ts";
import type { LabelledText, ReceiptRow, ReceiptText } from "./receipt-text.ts";

/** One column: where it stands and what it shows. */
interface Column {
  readonly head: string;
  readonly x: number;
  readonly width: number;
  readonly of: (row: ReceiptRow) => string;
}

const DESCRIPTION = { x: sheet.left + 6, width: 214 } as const;
const NUMBER_COLUMNS: readonly Column[] = [
  { head: "Qty", x: 278, width: 62, of: ({ quantity }) => quantity },
  { head: "Unit price", x: 346, width: 80, of: ({ unitPrice }) => unitPrice },
  { head: "Tax", x: 432, width: 36, of: ({ taxRate }) => taxRate },
  { head: "Amount", x: 474, width: sheet.right - 6 - 474, of: ({ amount }) => amount },
];
const CELL = { size: 9 } as const;
const HEAD = { size: 8, bold: true, color: "#ffffff" } as const;
const HEAD_HEIGHT = 20;
const ROW_PADDING = 6;
const SUM_HEIGHT = 17;
const TOTAL_HEIGHT = 30;
const SUMS_LEFT = 300;

/** Turns to a new page and says where its content begins. */
export type PageTurn = () => number;

/** Draws head and rows from `top` on, over as many pages as they need. @returns where they end */
export function drawRows(
  document: PDFKit.PDFDocument,
  rows: readonly ReceiptRow[],
  top: number,
  turnPage: PageTurn,
): number {
  let y = drawHead(document, top);
  for (const row of rows) {
    const height = rowHeight(document, row);
    if (y + height > sheet.bottom) y = drawHead(document, turnPage());
    drawRow(document, row, y);
    y += height;
    drawRule(document, y);
  }
  return y;
}

/** Draws subtotal, taxes, total and note; the sums stay together on one page. */
export function drawSums(
  document: PDFKit.PDFDocument,
  text: ReceiptText,
  top: number,
  turnPage: PageTurn,
): void {
  const needed = 10 + text.sums.length * SUM_HEIGHT + TOTAL_HEIGHT;
  let y = (top + needed > sheet.bottom ? turnPage() : top) + 10;
  for (const sum of text.sums) {
    drawSum(document, sum, y);
    y += SUM_HEIGHT;
  }
  drawTotal(document, text.total, y + 2);
  if (text.note !== undefined) drawNote(document, text.note, y + TOTAL_HEIGHT + 24, turnPage);
}

function rowHeight(document: PDFKit.PDFDocument, row: ReceiptRow): number {
  const text = paragraphHeight(document, row.description, DESCRIPTION.width, CELL);
  return text + 2 * ROW_PADDING;
}

function drawHead(document: PDFKit.PDFDocument, y: number): number {
  document.rect(sheet.left, y, sheet.right - sheet.left, HEAD_HEIGHT).fill(ink.accent);
  setLine(document, "Description", { ...DESCRIPTION, y: y + 6.5 }, HEAD);
  for (const { head, x, width } of NUMBER_COLUMNS) {
    setLine(document, head, { x, width, y: y + 6.5 }, { ...HEAD, align: "right" });
  }
  return y + HEAD_HEIGHT;
}

function drawRow(document: PDFKit.PDFDocument, row: ReceiptRow, top: number): void {
  const y = top + ROW_PADDING;
  setParagraph(document, row.description, { ...DESCRIPTION, y }, CELL);
  for (const { x, width, of } of NUMBER_COLUMNS) {
    setLine(document, of(row), { x, width, y }, { ...CELL, align: "right" });
  }
}

function drawSum(document: PDFKit.PDFDocument, { label, text }: LabelledText, y: number): void {
  const labelPlace = { x: SUMS_LEFT, y, width: 150 };
  setLine(document, label, labelPlace, { size: 9, color: ink.muted });
  const place = { x: SUMS_LEFT + 150, y, width: sheet.right - 6 - SUMS_LEFT - 150 };
  setLine(document, text, place, { size: 9, align: "right" });
}

function drawTotal(document: PDFKit.PDFDocument, total: string, y: number): void {
  drawRule(document, y, ink.accent, SUMS_LEFT);
  const style = { size: 12, bold: true, color: ink.accent } as const;
  setLine(document, "Total paid", { x: SUMS_LEFT, y: y + 9, width: 80 }, style);
  const place = { x: SUMS_LEFT + 80, y: y + 9, width: sheet.right - 6 - SUMS_LEFT - 80 };
  setLine(document, total, place, { ...style, align: "right" });
}

function drawNote(
  document: PDFKit.PDFDocument,
  note: string,
  top: number,
  turnPage: PageTurn,
): void {
  const style = { size: 8.5, color: ink.muted } as const;
  const width = sheet.right - sheet.left;
  const height = paragraphHeight(document, note, width, style);
  const y = top + height > sheet.bottom ? turnPage() + 10 : top;
  setParagraph(document, note, { x: sheet.left, y, width }, style);
}
