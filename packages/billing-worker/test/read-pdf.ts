/** Reads from a PDF what tests ask: its info, its number of pages, the texts on each page. */

import { inflateSync } from "node:zlib";

export interface ReadPdf {
  readonly info: Readonly<Record<string, string>>;
  /** One list for each page: every piece of text in the order in which it was set. */
  readonly pages: readonly (readonly string[])[];
}

/** The characters that a font's glyphs stand for, as the file tells its readers. */
type Characters = ReadonlyMap<string, string>;

/** Enough for what pdfkit writes: a compressed stream for each page, texts as hex glyph numbers. */
export function readPdf(bytes: Uint8Array): ReadPdf {
  const text = Buffer.from(bytes).toString("latin1");
  if (!text.startsWith("%PDF-1.3") || !text.trimEnd().endsWith("%%EOF")) {
    throw new Error("the file is no whole PDF");
  }
  const objects = new Map(
    Array.from(
      text.matchAll(/\n(\d+) 0 obj\n([\s\S]*?)\nendobj/g),
      ([, id = "", body = ""]): [string, string] => [id, body],
    ),
  );
  const pages = [...objects.values()]
    .filter((body) => body.includes("/Type /Page\n"))
    .map((page) => readTexts(objects, page));
  const count = Number(/\/Type \/Pages\s\/Count (\d+)/.exec(text)?.[1]);
  if (pages.length !== count) throw new Error(`${count} pages, but ${pages.length} found`);
  return { info: readInfo(objects, text), pages };
}

type Objects = ReadonlyMap<string, string>;

function readTexts(objects: Objects, page: string): readonly string[] {
  const resources = follow(objects, page, "Resources");
  const fonts = new Map(
    Array.from(
      resources.matchAll(/\/(F\d+) (\d+) 0 R/g),
      ([, name = "", id = ""]): [string, Characters] => [
        name,
        readCharacters(objects, objects.get(id) ?? ""),
      ],
    ),
  );
  const content = inflate(follow(objects, page, "Contents"));
  return [...content.matchAll(/\nBT\n([\s\S]*?)\nET/g)].map(([, block = ""]) => {
    const characters = fonts.get(/\/(F\d+) /.exec(block)?.[1] ?? "");
    const glyphs = [...block.matchAll(/<([0-9a-f]*)>/g)].map(([, hex = ""]) => hex).join("");
    return (glyphs.match(/.{4}/g) ?? []).map((glyph) => characters?.get(glyph) ?? "").join("");
  });
}

function readCharacters(objects: Objects, font: string): Characters {
  const map = inflate(follow(objects, font, "ToUnicode"));
  const ranges = [...map.matchAll(/^<(....)> <....> \[(.*)\]$/gm)];
  return new Map(
    ranges.flatMap(([, first = "", list = ""]) =>
      [...list.matchAll(/<([0-9a-f ]*)>/g)].map(([, hex = ""], index) => [
        (Number.parseInt(first, 16) + index).toString(16).padStart(4, "0"),
        Buffer.from(hex.replaceAll(" ", ""), "hex").swap16().toString("utf16le"),
      ]),
    ),
  );
}

function follow(objects: Objects, body: string, key: string): string {
  return objects.get(new RegExp(`/${key} (\\d+) 0 R`).exec(body)?.[1] ?? "") ?? "";
}

function inflate(body: string): string {
  const [, stream = ""] = /stream\n([\s\S]*)\nendstream/.exec(body) ?? [];
  return inflateSync(Buffer.from(stream, "latin1")).toString("latin1");
}

function readInfo(objects: Objects, text: string): Record<string, string> {
  const entries = text.matchAll(/\/(Title|Author|Keywords|CreationDate) (\d+) 0 R/g);
  return Object.fromEntries(
    [...entries].map(([, name = "", id = ""]) => [name, readString(objects.get(id) ?? "")]),
  );
}

const ESCAPED: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
};

/** Latin letters as they are; other texts are UTF-16 behind a byte order mark. */
function readString(body: string): string {
  const value = body.slice(1, -1).replaceAll(/\\([\s\S])/g, (_, sign) => ESCAPED[sign] ?? sign);
  if (!value.startsWith("\u00fe\u00ff")) return value;
  return Buffer.from(value.slice(2), "latin1").swap16().toString("utf16le");
}
