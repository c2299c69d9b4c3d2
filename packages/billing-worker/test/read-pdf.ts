/** Reads from a PDF what tests ask: its info, its number of pages, the texts on each page. */

import { inflateSync } from "node:zlib";

export interface ReadPdf {
  readonly info: Readonly<Record<string, string>>;
  /** One list for each page: every piece of text in the order in which it was set. */
  readonly pages: readonly (readonly string[])[];
}

/** Enough for what pdfkit writes: one compressed stream for each page, texts as hex in WinAnsi. */
export function readPdf(bytes: Uint8Array): ReadPdf {
  const text = Buffer.from(bytes).toString("latin1");
  if (!text.startsWith("%PDF-1.3") || !text.trimEnd().endsWith("%%EOF")) {
    throw new Error("the file is no whole PDF");
  }
  const count = Number(/\/Type \/Pages\s\/Count (\d+)/.exec(text)?.[1]);
  const pages = [...text.matchAll(/\/FlateDecode\s>>\sstream\s([\s\S]*?)\sendstream/g)]
    .map(([, stream = ""]) => inflateSync(Buffer.from(stream, "latin1")).toString("latin1"))
    .map(readTexts);
  if (pages.length !== count) throw new Error(`${count} pages, but ${pages.length} streams`);
  return { info: readInfo(text), pages };
}

function readTexts(content: string): readonly string[] {
  return [...content.matchAll(/\[([^\]]*)\] TJ/g)].map(([, pieces = ""]) => {
    const hex = [...pieces.matchAll(/<([0-9a-f]*)>/g)].map(([, digits = ""]) => digits).join("");
    return new TextDecoder("windows-1252").decode(Buffer.from(hex, "hex"));
  });
}

function readInfo(text: string): Record<string, string> {
  const entries = text.matchAll(/\/(Title|Author|Keywords|CreationDate) (\d+) 0 R/g);
  return Object.fromEntries(
    [...entries].map(([, name = "", reference = ""]) => [name, readString(text, reference)]),
  );
}

function readString(text: string, reference: string): string {
  const [, value = ""] = new RegExp(`\\n${reference} 0 obj\\n\\((.*)\\)\\nendobj`).exec(text) ?? [];
  return value.replaceAll(/\\([()\\])/g, "$1");
}
