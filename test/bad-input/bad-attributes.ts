/** Attributes against the body, messages at the edge of SQS's sizes, and former dead letters. */

import { type BadMessage, legal, misfit, mismatch, notJson } from "./bad-message.ts";
import {
  bytes,
  duplicateTenant,
  envelope,
  filledUp,
  foreignAttributes,
  MARKER,
  MEBIBYTE,
  nested,
  text,
} from "./envelopes.ts";

const HALF_KIBIBYTE_LEFT = MEBIBYTE - 512;
const full = envelope({ payload: { invoiceId: 7, note: MARKER } });

/** What operators filter by is not what would run. */
export const attributesAgainstTheBody: readonly BadMessage[] = [
  mismatch("another tenant", envelope(), { attributes: { tenant_id: text("evil") } }),
  mismatch("another job id", envelope(), { attributes: { job_id: text("inv-8") } }),
  mismatch("another type", envelope(), { attributes: { job_type: text("invoice.issue") } }),
  mismatch("the tenant in capitals", envelope(), { attributes: { tenant_id: text("ACME") } }),
  mismatch("the tenant and a blank", envelope(), { attributes: { tenant_id: text("acme ") } }),
  mismatch("a number for a tenant", envelope(), { attributes: { tenant_id: text("7", "Number") } }),
  mismatch("another tenant in bytes", envelope(), { attributes: { tenant_id: bytes("evil") } }),
  mismatch("bytes that are no text", envelope(), {
    attributes: { tenant_id: bytes(Uint8Array.of(0xff, 0xfe, 0x00)) },
  }),
  mismatch("the same letters composed otherwise", envelope({ tenant_id: "caf\u00e9" }), {
    attributes: { tenant_id: text("cafe\u0301") },
  }),
  mismatch("the tenant that a duplicate key named first", duplicateTenant("evil", "acme"), {
    attributes: { tenant_id: text("evil") },
  }),
  mismatch("another tenant in a newer version", envelope({ v: 2 }), {
    attributes: { tenant_id: text("evil") },
  }),
  mismatch("another tenant of an unknown type", envelope({ type: "receipt.fax" }), {
    attributes: { tenant_id: text("evil") },
  }),
];

/** Copies for which SQS has little or no room left. */
export const edgesOfSize: readonly BadMessage[] = [
  legal("a job of exactly 1 MiB", filledUp(envelope(), MEBIBYTE)),
  legal(
    "a job of exactly 1 MiB with its attributes",
    filledUp(envelope(), MEBIBYTE, foreignAttributes(10)),
    { attributes: foreignAttributes(10) },
  ),
  misfit("of exactly 1 MiB: no byte left for a reason", filledUp(full, MEBIBYTE), { marks: [] }),
  misfit("with room for the reason only", filledUp(full, MEBIBYTE - 40), { marks: ["reason"] }),
  misfit("with room for all marks", filledUp(full, HALF_KIBIBYTE_LEFT)),
  misfit(
    "whose long detail does not fit",
    filledUp(
      envelope({ payload: { lines: Array(20).fill({ amount: MARKER }) } }),
      HALF_KIBIBYTE_LEFT,
    ),
    { marks: ["reason", "source"] },
  ),
  notJson("with seven attributes: all marks fit", "{", { attributes: foreignAttributes(7) }),
  notJson("with eight attributes", "{", {
    attributes: foreignAttributes(8),
    marks: ["reason", "source"],
  }),
  notJson("with nine attributes", "{", { attributes: foreignAttributes(9), marks: ["reason"] }),
  notJson("with ten attributes: none left for a reason", "{", {
    attributes: foreignAttributes(10),
    marks: [],
  }),
];

/** Messages that carry our own marks, rightly or not. */
export const formerDeadLetters: readonly BadMessage[] = [
  legal("a redriven job", envelope(), {
    attributes: { dead_letter_reason: text("permanent"), dead_letter_detail: text("too early") },
  }),
  notJson("that says so of itself", "{", {
    attributes: { dead_letter_reason: text("permanent") },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a depth bomb for a history", "{", {
    attributes: { dead_letter_history: text(nested(200_000)) },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a depth bomb for a source", "{", {
    attributes: {
      dead_letter_reason: text("permanent"),
      dead_letter_source: text(nested(200_000)),
    },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a history of fifty thousand", "{", {
    attributes: { dead_letter_history: text(JSON.stringify(Array(50_000).fill({ reason: "x" }))) },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a history that is no JSON", "{", {
    attributes: { dead_letter_history: text("[") },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a history in bytes", "{", {
    attributes: { dead_letter_history: bytes("[1]") },
    marks: ["reason", "detail", "source", "history"],
  }),
];
