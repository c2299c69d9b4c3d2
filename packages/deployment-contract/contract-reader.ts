/** Reads one field at a time and remembers every problem, so that all are told at once. */

import { type Known, type NumberPath, type NumberRule, numberRules } from "./defaults.ts";

/** An object as given: nothing is known of its fields yet. */
export type Given = Readonly<Record<string, unknown>>;

type Surroundings = Omit<Known, "at">;

const UNIT_WORDS: Readonly<Record<NumberRule["unit"], string>> = {
  ms: "a whole number of milliseconds",
  seconds: "whole seconds in milliseconds",
  count: "a whole number",
  minutes: "a whole number of minutes",
};

/** Collects problems while a contract is read; one reader reads one contract. */
export class ContractReader {
  readonly problems: string[] = [];
  readonly #numbers = new Map<NumberPath, number>();

  /** Notes that the value at `path` is not what it must be, and what to write instead. */
  refuse(path: string, must: string, value: unknown, mend: string): void {
    this.problems.push(`${path || "the contract"} must ${must}, got ${show(value)}; ${mend}`);
  }

  /** The object at `path` with no unknown fields; empty when it is left out or is no object. */
  section(path: string, value: unknown, known: readonly string[]): Given {
    if (value === undefined) return {};
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.refuse(path, "be an object", value, `write { ${known[0]}: ... } or leave it out`);
      return {};
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const at = path === "" ? name : `${path}.${name}`;
      const got = show((value as Given)[name]);
      this.problems.push(
        `${at} is not a field of a contract, got ${got}; remove it or write one of ${known.join(", ")}`,
      );
    }
    return value as Given;
  }

  /** The list at `path`, or an empty one. */
  list(path: string, value: unknown): readonly unknown[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.refuse(path, "be a list", value, "write [{ ... }]");
    return [];
  }

  /** One of a few words, or `undefined` when it is none of them. */
  word<Word extends string>(
    path: string,
    value: unknown,
    words: readonly Word[],
  ): Word | undefined {
    if (words.includes(value as Word)) return value as Word;
    const list = words.map((word) => JSON.stringify(word)).join(", ");
    this.refuse(path, `be one of ${list}`, value, `write ${nearestWord(value, words)}`);
    return undefined;
  }

  /** A name that matches `pattern`; what it may be is said by `rule`. */
  name(path: string, value: unknown, pattern: RegExp, rule: string, example: string): string {
    if (typeof value === "string" && pattern.test(value)) return value;
    this.refuse(path, `be ${rule}`, value, `write a name such as ${JSON.stringify(example)}`);
    return typeof value === "string" ? value : "";
  }

  /**
   * The number at `path` of the table, shown as `shownPath`, or its default.
   *
   * A default that follows from a number which makes no sense is not a second problem.
   */
  number(
    path: NumberPath,
    shownPath: string,
    value: unknown,
    known: Surroundings,
  ): number | undefined {
    const rule = numberRules[path];
    const fallback =
      rule.fallback === "required"
        ? undefined
        : rule.fallback({ ...known, at: (other) => this.#numbers.get(other) ?? Number.NaN });
    if (value === undefined && rule.fallback !== "required") {
      if (fallback !== undefined) this.#numbers.set(path, fallback);
      return fallback;
    }
    const fits = isWithin(rule, value);
    if (!fits) {
      const must = `be ${UNIT_WORDS[rule.unit]} between ${rule.min} and ${rule.max}`;
      this.refuse(shownPath, must, value, `write ${nearestNumber(rule, value, fallback)}`);
    }
    this.#numbers.set(path, fits ? value : Number.NaN);
    return fits ? value : Number.NaN;
  }
}

function isWithin({ unit, min, max }: NumberRule, value: unknown): value is number {
  if (typeof value !== "number" || !(value >= min && value <= max)) return false;
  return Number.isInteger(unit === "seconds" ? value / 1_000 : value);
}

/** The number that was probably meant: rounded up and brought into the range, else the default. */
function nearestNumber(rule: NumberRule, value: unknown, fallback: number | undefined): number {
  const step = rule.unit === "seconds" ? 1_000 : 1;
  if (typeof value === "number" && !Number.isNaN(value)) {
    return Math.min(rule.max, Math.max(rule.min, Math.ceil(value / step) * step));
  }
  return fallback === undefined || Number.isNaN(fallback) ? rule.min : fallback;
}

/** The word that shares the most letters, place by place, with the one given; the first when none was. */
function nearestWord(value: unknown, words: readonly string[]): string {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const given = typeof value === "string" ? letters(value) : "";
  const shared = (word: string) =>
    [...letters(word)].filter((letter, index) => letter === given[index]).length;
  const best = words.reduce((one, other) => (shared(other) > shared(one) ? other : one));
  return JSON.stringify(best);
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
