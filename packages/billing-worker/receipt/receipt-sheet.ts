/** The paper of a receipt: its measures and colours, and text that keeps within its place. */

import { lettersOf } from "./printable-text.ts";
import type { Weight } from "./receipt-fonts.ts";

/** A4 in points, and what may be written on. */
export const sheet: Readonly<
  Record<"width" | "height" | "left" | "right" | "top" | "bottom", number>
> = Object.freeze({
  width: 595.28,
  height: 841.89,
  left: 48,
  right: 547.28,
  top: 48,
  /** The footer lies below. */
  bottom: 778,
});

/** The few colours of a receipt. */
export const ink: Readonly<Record<"accent" | "text" | "muted" | "hairline" | "tint", string>> =
  Object.freeze({
    accent: "#0f4c5c",
    text: "#1f2933",
    muted: "#6b7785",
    hairline: "#d5dbe1",
    tint: "#f1f5f7",
  });

/** How one piece of text is set. */
export interface TextStyle {
  readonly size: number;
  readonly bold?: boolean;
  readonly color?: string;
  readonly align?: "left" | "right" | "center";
  readonly characterSpacing?: number;
}

/** Where it goes: its upper left corner and the width that it must keep. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** At this size the largest amount that an invoice can hold still fits its column uncut. */
const SMALLEST_SIZE = 5;
const SIZE_STEP = 0.5;

/**
 * Sets one line. A text that is too wide gets smaller, and at the smallest size it is cut with an
 * ellipsis: it never runs into its neighbour and never wraps.
 */
export function setLine(
  document: PDFKit.PDFDocument,
  text: string,
  place: Place,
  style: TextStyle,
): void {
  const { characterSpacing = 0, align = "left" } = style;
  let size = style.size;
  const widthOf = (candidate: string) => {
    document.font(fontOf(style), size);
    return document.widthOfString(candidate, { characterSpacing });
  };
  while (widthOf(text) > place.width && size > SMALLEST_SIZE) size -= SIZE_STEP;
  let shown = text;
  while (widthOf(shown) > place.width && shown !== "…") {
    shown = `${lettersOf(shown.replace(/…$/, "")).slice(0, -1).join("")}…`;
  }
  const slack = place.width - widthOf(shown);
  const shift = align === "left" ? 0 : align === "right" ? slack : slack / 2;
  // The size asked for, not the one found: a smaller text keeps the baseline of its row.
  document
    .fillColor(style.color ?? ink.text)
    .text(shown, place.x + shift, place.y + style.size * BASELINE_SHARE, {
      lineBreak: false,
      characterSpacing,
      baseline: "alphabetic",
    });
}

/** Sets a text that may wrap. @returns how high it is */
export function setParagraph(
  document: PDFKit.PDFDocument,
  text: string,
  place: Place,
  style: TextStyle,
): number {
  const { x, y, width } = place;
  const heightPt = paragraphHeight(document, text, width, style);
  const lineGap = lineGapOf(document, style);
  document
    .fillColor(style.color ?? ink.text)
    .text(text, x, y + style.size * BASELINE_SHARE, { width, lineGap, baseline: "alphabetic" });
  return heightPt;
}

/** How high the text is when it wraps at that width. */
export function paragraphHeight(
  document: PDFKit.PDFDocument,
  text: string,
  width: number,
  style: TextStyle,
): number {
  document.font(fontOf(style), style.size);
  const lineGap = lineGapOf(document, style);
  return document.heightOfString(text, { width, lineGap }) - LEADING;
}

/** Of the font size: from the top of a line to its baseline, and to its lower end. */
const BASELINE_SHARE = 0.72;
const LINE_SHARE = 1.16;
/** Between two lines. */
const LEADING = 1.5;

/** The font leaves room for two accents on top of each other; receipts are set closer. */
function lineGapOf(document: PDFKit.PDFDocument, { size }: TextStyle): number {
  return size * LINE_SHARE + LEADING - document.currentLineHeight(true);
}

/** A thin line from margin to margin. */
export function drawRule(
  document: PDFKit.PDFDocument,
  y: number,
  color: string = ink.hairline,
  from: number = sheet.left,
): void {
  document.moveTo(from, y).lineTo(sheet.right, y).lineWidth(0.6).strokeColor(color).stroke();
}

function fontOf({ bold = false }: TextStyle): Weight {
  return bold ? "bold" : "regular";
}
