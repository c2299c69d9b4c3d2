/** Reads one variable at a time and remembers every problem, so that all are told at once. */

import type { ConfigProblem } from "./errors.ts";

/** Variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** With a zone: without one it would be another moment on every machine. */
const ISO_MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Collects problems while an environment is read. An empty variable counts as not set. */
export class EnvironmentReader {
  readonly problems: ConfigProblem[] = [];
  readonly #environment: Environment;
  readonly #asked = new Set<string>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Notes a problem; `got` is the variable's value unless told otherwise. */
  refuse(name: string, must: string, mend: string, got: string = this.#shown(name)): void {
    this.problems.push({ name, must, got, mend });
  }

  /** The text, or `undefined` when it is not set. */
  optional(name: string): string | undefined {
    this.#asked.add(name);
    const value = this.#environment[name];
    return value === undefined || value === "" ? undefined : value;
  }

  required(name: string, must: string, example: string): string {
    const value = this.optional(name);
    if (value === undefined) this.refuse(name, must, `Set it, for example ${name}=${example}.`);
    return value ?? "";
  }

  wholeNumber(name: string, fallback: number, min: number, max: number): number {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    const must = `be a whole number between ${min} and ${max}`;
    this.refuse(name, must, `Write ${fallback}, which is the default, or leave it out.`);
    return fallback;
  }

  word<Word extends string>(name: string, fallback: Word, words: readonly Word[]): Word {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    if (words.includes(value as Word)) return value as Word;
    const must = `be one of ${words.join(", ")}`;
    this.refuse(name, must, `Write one of them, or leave it out for ${fallback}.`);
    return fallback;
  }

  /** An http or https address, or `undefined` when it is not set. */
  address(name: string): string | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    const { protocol } = URL.parse(value) ?? {};
    if (protocol === "http:" || protocol === "https:") return value;
    const mend = `Write it whole, for example ${name}=http://127.0.0.1:9324, or leave it out.`;
    this.refuse(name, "be an http or https address", mend);
    return undefined;
  }

  /** A moment as Unix time in ms, or `undefined` when it is not set. */
  moment(name: string): number | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    const atMs = ISO_MOMENT.test(value) ? Date.parse(value) : Number.NaN;
    if (atMs >= 0) return atMs;
    const mend = `Write it with its zone, for example ${name}=2026-01-31T09:30:00Z.`;
    this.refuse(name, "be a moment in ISO 8601", mend);
    return undefined;
  }

  /** A JSON object; empty when it is not set. */
  jsonObject(name: string): Readonly<Record<string, unknown>> {
    const value = this.optional(name);
    if (value === undefined) return {};
    const parsed = parseJson(value);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Readonly<Record<string, unknown>>;
    }
    this.refuse(name, "be a JSON object", `Write it like {"worker":{"concurrency":4}}.`);
    return {};
  }

  /** Refuses variables with this prefix that nobody asked for: most are misspelt. */
  refuseUnknown(prefix: string): void {
    const known = [...this.#asked].filter((name) => name.startsWith(prefix)).sort();
    for (const name of Object.keys(this.#environment).sort()) {
      if (!name.startsWith(prefix) || this.#asked.has(name)) continue;
      this.refuse(name, "be a variable of this service", `Known are ${known.join(", ")}.`);
    }
  }

  #shown(name: string): string {
    const value = this.#environment[name];
    return value === undefined || value === "" ? "nothing" : JSON.stringify(value);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is told like JSON that is no object.
    return undefined;
  }
}
