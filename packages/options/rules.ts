/** The kinds of option that this house has: durations, counts, switches, words and texts. */

import type { OptionRule } from "./options.ts";

type Fallback<Value> = OptionRule<Value>["fallback"];

/** A number within a range, ends included. */
export interface NumberRange {
  readonly min: number;
  readonly max: number;
}

/** A duration in milliseconds, whole or not, within the range. */
export function durationMs(fallback: Fallback<number>, range: NumberRange): OptionRule<number> {
  return { fallback, check: (value) => checkNumber(value, range, false) };
}

/** A whole number within the range. */
export function count(fallback: Fallback<number>, range: NumberRange): OptionRule<number> {
  return { fallback, check: (value) => checkNumber(value, range, true) };
}

/** A part of a whole, within the range. */
export function share(fallback: Fallback<number>, range: NumberRange): OptionRule<number> {
  return { fallback, check: (value) => checkNumber(value, range, false) };
}

/** `true` or `false`, and nothing that only looks like it. */
export function toggle(fallback: Fallback<boolean>): OptionRule<boolean> {
  return {
    fallback,
    check: (value) => (typeof value === "boolean" ? undefined : "be true or false"),
  };
}

/** One of a few words. */
export function oneOf<Word extends string>(
  fallback: Fallback<Word>,
  words: readonly Word[],
): OptionRule<Word> {
  return {
    fallback,
    check: (value) =>
      words.includes(value as Word)
        ? undefined
        : `be one of ${words.map((word) => `"${word}"`).join(", ")}`,
  };
}

/** A text; empty only when `allowEmpty`. */
export function text(
  fallback: Fallback<string>,
  { allowEmpty = false }: { readonly allowEmpty?: boolean } = {},
): OptionRule<string> {
  return {
    fallback,
    check: (value) =>
      typeof value === "string" && (allowEmpty || value !== "")
        ? undefined
        : "be a text that is not empty",
  };
}

function checkNumber(
  value: unknown,
  { min, max }: NumberRange,
  whole: boolean,
): string | undefined {
  const fits = typeof value === "number" && value >= min && value <= max;
  if (fits && (!whole || Number.isInteger(value))) return undefined;
  return `be a ${whole ? "whole number" : "number"} between ${min} and ${max}`;
}
