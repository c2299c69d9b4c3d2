/** The attributes that a caller adds to a job: how many, which names, which values. Pure. */

import { UnsendableJobError } from "./errors.ts";
import { MAX_ATTRIBUTES } from "./limits.ts";

/** Set by the producer itself; the last two only when there is a trace. */
const OWN_ATTRIBUTES: readonly string[] = [
  "tenant_id",
  "job_id",
  "job_type",
  "traceparent",
  "tracestate",
];

/**
 * The places for a trace are kept free in every message: else a send that went well would fail, or
 * lose its trace, from the day on which somebody turns tracing on.
 */
const MAX_ADDED_ATTRIBUTES = MAX_ATTRIBUTES - OWN_ATTRIBUTES.length;

/** @see SQS Developer Guide, "Amazon SQS message metadata", "Message attribute components" */
const NAME = /^(?!(?:aws|amazon)\.)(?!\.)(?!.*\.\.)[\w.-]{1,256}(?<!\.)$/i;
const FORBIDDEN_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const SHOWN_CHARACTERS = 60;

/** @throws UnsendableJobError naming every problem, never a value */
export function checkAddedAttributes(attributes: Readonly<Record<string, string>>): void {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) {
    throw new UnsendableJobError("attributes must be an object of texts by their names");
  }
  const entries = Object.entries(attributes);
  const problems = entries.flatMap(([name, value]) => problemOf(name, value));
  if (entries.length > MAX_ADDED_ATTRIBUTES) {
    problems.push(
      `attributes must be at most ${MAX_ADDED_ATTRIBUTES}, got ${entries.length}: SQS takes ` +
        `${MAX_ATTRIBUTES}, and ${OWN_ATTRIBUTES.length} are for ${OWN_ATTRIBUTES.join(", ")}; ` +
        `put into the payload what nobody filters by`,
    );
  }
  if (problems.length > 0) throw new UnsendableJobError(problems.join("; "));
}

function problemOf(name: string, value: unknown): readonly string[] {
  const shown = JSON.stringify(name.slice(0, SHOWN_CHARACTERS));
  if (OWN_ATTRIBUTES.includes(name)) {
    return [`attributes must not have ${shown}: the producer sets it`];
  }
  if (!NAME.test(name)) {
    return [
      `attribute name ${shown} must be 1 to 256 letters, digits, underscores, dashes and single ` +
        `dots, with no dot at its ends and no AWS. or Amazon. before it`,
    ];
  }
  if (typeof value !== "string" || value === "") {
    const got = value === "" ? "an empty one" : value === null ? "null" : `a ${typeof value}`;
    return [`attribute ${shown} must be a text, got ${got}`];
  }
  return isCarried(value) ? [] : [`attribute ${shown} has a character that SQS does not take`];
}

/** Whether SQS takes every character of the text in an attribute. */
export function isCarried(text: string): boolean {
  return !FORBIDDEN_CHARACTER.test(text);
}
