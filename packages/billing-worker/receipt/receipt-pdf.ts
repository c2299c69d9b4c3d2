/** A receipt as a PDF, page by page; the same invoice gives the same bytes. */

import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import type { PaidInvoice } from "../invoice/invoice.ts";
import { registerFonts } from "./receipt-fonts.ts";
import { drawLetterhead, drawRunningHead } from "./receipt-letterhead.ts";
import { drawRule, ink, setLine, sheet } from "./receipt-sheet.ts";
import { drawRows, drawSums } from "./receipt-table.ts";
import { type ReceiptText, receiptKeywords, receiptText } from "./receipt-text.ts";

/**
 * Renders the receipt of a paid invoice.
 *
 * The document's dates are the payment's and its id follows from them, so that a repeated render is
 * the same file. `Keywords` in its info says invoice, currency and total for programs.
 */
export async function renderReceipt(invoice: PaidInvoice): Promise<Uint8Array> {
  const text = receiptText(invoice);
  const document = openDocument(invoice);
  const pdf = buffer(document);
  const turnPage = () => {
    document.addPage();
    return drawRunningHead(document, text);
  };
  document.addPage();
  const rowsEnd = drawRows(document, text.rows, drawLetterhead(document, text), turnPage);
  drawSums(document, text, rowsEnd, turnPage);
  drawFooters(document, text);
  document.end();
  return pdf;
}

function openDocument(invoice: PaidInvoice): PDFKit.PDFDocument {
  const document = new PDFDocument({
    autoFirstPage: false,
    // Pages wait in memory until the end, because only then it is known how many there are.
    bufferPages: true,
    size: [sheet.width, sheet.height],
    margin: 0,
    // From 1.4 on pdfkit adds XMP metadata and writes the texts of `info` into it without escaping:
    // a seller named "Harbour & Finch" makes it malformed XML.
    pdfVersion: "1.3",
    info: {
      Title: `Receipt ${invoice.invoiceId}`,
      Author: invoice.seller.name,
      Subject: `Receipt for invoice ${invoice.invoiceId}`,
      Keywords: receiptKeywords(invoice),
      Creator: "billing-worker",
      CreationDate: new Date(invoice.payment.paidAt),
    },
  });
  registerFonts(document);
  return document;
}

function drawFooters(document: PDFKit.PDFDocument, text: ReceiptText): void {
  const { start, count } = document.bufferedPageRange();
  const style = { size: 7.5, color: ink.muted } as const;
  const y = sheet.bottom + 24;
  for (let index = 0; index < count; index += 1) {
    document.switchToPage(start + index);
    drawRule(document, sheet.bottom + 16);
    setLine(document, text.footer, { x: sheet.left, y, width: 400 }, style);
    setLine(
      document,
      `Page ${index + 1} of ${count}`,
      { x: sheet.right - 90, y, width: 90 },
      { ...style, align: "right" },
    );
  }
}
