/** Reads what a caller chose: fills defaults, checks ranges, refuses unknown names. */

import { InvalidOptionsError } from "./errors.ts";

/** How one option is read: its default and what it may be. */
export interface OptionRule<Value> {
  /** The value when the caller chose none; a function sees the options resolved before it. */
  readonly fallback: Value | ((resolved: Readonly<Record<string, unknown>>) => Value);
  /** What is wrong with a value, as the end of "`name` must ...", or `undefined` when it is fine. */
  readonly check: (value: unknown) => string | undefined;
}

/** A rule for each option, in the order in which they are resolved. */
export type OptionRules<Resolved> = {
  readonly [Name in keyof Resolved]-?: OptionRule<Resolved[Name]>;
};

/** Rules between options: one sentence for each one that is broken. */
export type CrossCheck<Resolved> = (resolved: Resolved) => readonly string[];

/**
 * The options complete and frozen.
 *
 * An option given as `undefined` counts as not given. Rules between options are asked only when
 * every single one is fine, so that no sentence speaks of a value that makes no sense.
 *
 * @throws InvalidOptionsError naming every problem, not only the first
 */
export function resolveOptions<Resolved extends object>(
  subject: string,
  given: Readonly<Record<string, unknown>> | undefined,
  rules: OptionRules<Resolved>,
  crossCheck: CrossCheck<Resolved> = () => [],
): Readonly<Resolved> {
  const chosen = given ?? {};
  const problems = Object.keys(chosen)
    .filter((name) => !Object.hasOwn(rules, name))
    .map(
      (name) => `${name} is not a ${subject} option; known are ${Object.keys(rules).join(", ")}`,
    );
  const resolved: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules) as [string, OptionRule<unknown>][]) {
    const value = chosen[name] ?? readFallback(rule, resolved);
    // A default derived from a value that makes no sense is not a second problem.
    const isConsequence = chosen[name] === undefined && problems.length > 0;
    const problem = isConsequence ? undefined : rule.check(value);
    if (problem !== undefined) problems.push(`${name} must ${problem}, got ${show(value)}`);
    resolved[name] = value;
  }
  if (problems.length === 0) problems.push(...crossCheck(resolved as Resolved));
  if (problems.length > 0) throw new InvalidOptionsError(subject, problems);
  return Object.freeze(resolved as Resolved);
}

function readFallback(rule: OptionRule<unknown>, resolved: Record<string, unknown>): unknown {
  return typeof rule.fallback === "function" ? rule.fallback(resolved) : rule.fallback;
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return String(value);
}
