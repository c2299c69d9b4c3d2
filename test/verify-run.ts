/**
 * Judges a finished run from outside: `npm run verify-run -- --data DIR` opens what
 * `npm start -- --data DIR --jobs N --exit-when-idle` left there and counts.
 */

import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { billingContract, invoicesTable } from "@leasehold/billing-worker/contract";
import { readCharges } from "@leasehold/billing-worker/payment-sandbox";
import { tableSettings } from "@leasehold/deployment-contract";
import { type LocalAws, startLocalAws } from "@leasehold/local-aws";
import { type Evidence, readInvoices, readQueues } from "./verify-run/evidence.ts";
import { readLedger } from "./verify-run/payment-evidence.ts";
import { hasPoppler, listReceipts, readReceipts } from "./verify-run/receipt-files.ts";
import { type Check, judge } from "./verify-run/verdict.ts";

const USAGE =
  "usage: npm run verify-run -- --data DIR [--without-pdfinfo] [--json]\n" +
  "  --data DIR         the folder of a finished `npm start -- --data DIR`\n" +
  "  --without-pdfinfo  do not look inside the receipts\n" +
  "  --json             one machine-readable line";
const SHOWN_FAULTS = 10;
/** Where the local payment provider of a run keeps what it has charged. */
const CHARGES_FILE = "payments.jsonl";

interface Flags {
  readonly data: string;
  readonly withoutPdfinfo: boolean;
  readonly json: boolean;
}

/** The flags, or `undefined` when they make no sense and the reason was told. */
function readFlags(): Flags | undefined {
  try {
    const { values } = parseArgs({
      options: {
        data: { type: "string" },
        "without-pdfinfo": { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    });
    if (values.data === undefined) throw new TypeError("--data DIR is missing");
    const { data, json, "without-pdfinfo": withoutPdfinfo } = values;
    return { data: resolve(data), json, withoutPdfinfo };
  } catch (error) {
    console.error(`verify-run: ${(error as Error).message}\n${USAGE}`);
    return undefined;
  }
}

/** Opening a folder creates what is missing in it; nothing must be created here. */
async function isRunFolder(folder: string): Promise<boolean> {
  const parts = ["sqs", "dynamodb", "receipts"].map((name) => access(join(folder, name)));
  return (await Promise.allSettled(parts)).every(({ status }) => status === "fulfilled");
}

async function gather(aws: LocalAws, folder: string, looksInside: boolean): Promise<Evidence> {
  const receiptsFolder = join(folder, "receipts");
  const listing = await listReceipts(receiptsFolder);
  return {
    queues: await readQueues(aws),
    invoices: await readInvoices(aws.dynamodb, invoicesTable.tableName),
    charges: readCharges(join(folder, CHARGES_FILE)),
    ledger: await readLedger(aws.dynamodb, tableSettings(billingContract())?.tableName ?? ""),
    ...listing,
    ...(looksInside ? { receipts: await readReceipts(receiptsFolder, listing.receiptPaths) } : {}),
  };
}

function show(evidence: Evidence, checks: readonly Check[]): void {
  console.table(
    Object.fromEntries(evidence.queues.map(({ name, isDeadLetterQueue, ...rest }) => [name, rest])),
  );
  const paid = evidence.invoices.filter(({ isPaid }) => isPaid).length;
  console.log(
    `invoices: ${evidence.invoices.length}, paid: ${paid}, charged: ${evidence.charges.length}, ` +
      `receipts: ${evidence.receiptPaths.length}\n`,
  );
  for (const { name, examined, faults } of checks) {
    console.log(`${faults.length === 0 ? "ok    " : "FAILED"}  ${name} (${examined} examined)`);
    for (const fault of faults.slice(0, SHOWN_FAULTS)) console.log(`          ${fault}`);
    if (faults.length > SHOWN_FAULTS)
      console.log(`          and ${faults.length - SHOWN_FAULTS} more`);
  }
}

async function verify({ data, withoutPdfinfo, json }: Flags): Promise<number> {
  const isPopplerMissing = !withoutPdfinfo && !(await hasPoppler());
  const looksInside = !withoutPdfinfo && !isPopplerMissing;
  const aws = await startLocalAws({ mode: "embedded", folder: data });
  const evidence = await gather(aws, data, looksInside).finally(() => aws.close());
  const checks = judge(evidence);
  const failed = checks.filter(({ faults }) => faults.length > 0).length;
  if (!json) show(evidence, checks);
  if (!looksInside) {
    const how = isPopplerMissing
      ? "pdfinfo is not installed (apt-get install poppler-utils, brew install poppler), " +
        "or say --without-pdfinfo"
      : "as asked by --without-pdfinfo";
    console.error(`verify-run: the inside of the receipts was NOT checked: ${how}`);
  }
  const passed = checks.length - failed;
  if (json)
    console.log(JSON.stringify({ event: "verify-run", passed, failed, looksInside, checks }));
  else console.log(`\nverify-run: ${passed} checks passed, ${failed} failed`);
  return failed > 0 || isPopplerMissing ? 1 : 0;
}

const flags = readFlags();
if (flags === undefined) {
  process.exitCode = 2;
} else if (!(await isRunFolder(flags.data))) {
  console.error(`verify-run: ${flags.data} has no sqs, dynamodb and receipts: no run ended there`);
  process.exitCode = 2;
} else {
  process.exitCode = await verify(flags);
}
