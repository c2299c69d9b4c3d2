/** Receipts as files, opened by poppler: another PDF implementation than the one that wrote them. */

import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ReceiptEvidence } from "./evidence.ts";

const run = promisify(execFile);

const AT_ONCE = 4;
const LARGEST_TEXT_BYTES = 64 * 1024 * 1024;

/** What lies in the receipts folder, by names. */
export interface ReceiptListing {
  readonly receiptPaths: readonly string[];
  readonly otherPaths: readonly string[];
}

/** All files below the folder. */
export async function listReceipts(folder: string): Promise<ReceiptListing> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  return {
    receiptPaths: paths.filter((path) => path.endsWith(".pdf")),
    otherPaths: paths.filter((path) => !path.endsWith(".pdf")),
  };
}

/** Whether `pdfinfo` and `pdftotext` can be run here. */
export async function hasPoppler(): Promise<boolean> {
  const programs = ["pdfinfo", "pdftotext"].map((program) =>
    run(program, ["-v"]).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
    ),
  );
  return (await Promise.all(programs)).every((isThere) => isThere);
}

/** Every receipt, opened; one that cannot be opened is evidence as well. */
export async function readReceipts(
  folder: string,
  paths: readonly string[],
): Promise<readonly ReceiptEvidence[]> {
  const receipts: ReceiptEvidence[] = [];
  const waiting = paths.values();
  const readSome = async () => {
    for (const path of waiting) receipts.push(await readReceipt(folder, path));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readSome));
  return receipts.sort((left, right) => (left.path < right.path ? -1 : 1));
}

async function readReceipt(folder: string, path: string): Promise<ReceiptEvidence> {
  const file = join(folder, path);
  try {
    const info = readInfo((await run("pdfinfo", ["-enc", "UTF-8", file])).stdout);
    const limits = { maxBuffer: LARGEST_TEXT_BYTES };
    const { stdout } = await run("pdftotext", ["-enc", "UTF-8", "-layout", file, "-"], limits);
    return {
      path,
      pages: Number(info["Pages"]),
      keywords: readKeywords(info["Keywords"] ?? ""),
      text: stdout,
    };
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    return { path, problem: (stderr || message).trim(), pages: 0, keywords: {}, text: "" };
  }
}

/** `Name:   value`, one on each line. */
function readInfo(output: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...output.matchAll(/^([^:\n]+):\s*(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
}

/** `name=value;name=value`, values percent-encoded. */
function readKeywords(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(";").map((field) => {
      const [name = "", value = ""] = field.split("=");
      return [name.trim(), decodeURIComponent(value)];
    }),
  );
}
