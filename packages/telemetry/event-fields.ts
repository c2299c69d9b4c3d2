/** The fields of an event under their names in a line; whatever has no name is left out. Pure. */

import { FIELD_NAMES, TIME_NAMES } from "./names.ts";
import { isoTime } from "./report-line.ts";

/** Parts of an event whose fields stand in the line as its own. */
const PARTS: ReadonlySet<string> = new Set(["lease", "job"]);
const ERROR_NAMES: Readonly<Record<string, string>> = {
  name: "error_name",
  message: "error_message",
  stack: "error_stack",
};

/**
 * The named fields of an event, flat: texts, numbers, switches and lists of texts. Objects are never
 * printed as such, so a payload that strays into an event stays out of the log.
 */
export function eventFields(event: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) {
    if (PARTS.has(key) && isObject(value)) Object.assign(fields, eventFields(value));
    else if (key === "error" && isObject(value)) Object.assign(fields, renamed(value, ERROR_NAMES));
    else if (Object.hasOwn(TIME_NAMES, key) && typeof value === "number") {
      fields[TIME_NAMES[key] as string] = isoTime(value);
    }
  }
  return { ...renamed(event, FIELD_NAMES), ...fields };
}

function renamed(values: object, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const known = Object.entries(values).filter(
    ([key, value]) => Object.hasOwn(names, key) && isPlain(value),
  );
  return Object.fromEntries(known.map(([key, value]) => [names[key], value]));
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
