/** Reads the form-encoded parameters of a request, and refuses what Stripe refuses. */

import { missing, SandboxRefusal } from "./sandbox-refusal.ts";

/** Names as they stand in the form, brackets included, with their values. */
export type FormPairs = readonly (readonly [name: string, value: string])[];

/** @see Stripe API Reference, "Amount": up to eight digits */
const MOST_MINOR_UNITS = 99_999_999;
/** @see Stripe API Reference, "Metadata" */
const METADATA_LIMITS = { keys: 50, keyCharacters: 40, valueCharacters: 500 };

/** The parameters of one request. Each is asked for by its name; all others are unknown. */
export class SandboxParameters {
  readonly #pairs: FormPairs;

  /** @throws SandboxRefusal when one of them is not in `known`; `metadata` is, with any key */
  constructor(pairs: FormPairs, known: readonly string[]) {
    for (const [name] of pairs) {
      const top = name.split("[")[0] ?? name;
      if (known.includes(top)) continue;
      const code = "parameter_unknown";
      throw new SandboxRefusal(400, `Received unknown parameter: ${top}`, { code, param: top });
    }
    this.#pairs = pairs;
  }

  text(name: string): string | undefined {
    return this.#pairs.find(([found]) => found === name)?.[1];
  }

  flag(name: string): boolean {
    return this.text(name) === "true";
  }

  /** Whether this field is wanted as an object instead of an id. */
  expands(field: string): boolean {
    return this.#pairs.some(([name, value]) => /^expand\[/.test(name) && value === field);
  }

  /** One of the words, the first of them when it is not there. */
  word<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const value = this.text(name) ?? words[0];
    if (words.includes(value as Word)) return value as Word;
    throw new SandboxRefusal(400, `Invalid ${name}: must be one of ${words.join(", ")}`, {
      param: name,
    });
  }

  /** An amount in minor units, or `undefined` when it is not there. */
  amount(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const amount = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isNaN(amount)) throw invalidInteger(name, `Invalid integer: ${value}`);
    if (amount < 1) {
      throw invalidInteger(name, "This value must be greater than or equal to 1.");
    }
    if (amount > MOST_MINOR_UNITS) {
      const message = `Amount must be no more than ${MOST_MINOR_UNITS} minor units`;
      throw new SandboxRefusal(400, message, { code: "amount_too_large", param: name });
    }
    return amount;
  }

  requiredAmount(name: string): number {
    const amount = this.amount(name);
    if (amount === undefined) throw missing(name);
    return amount;
  }

  requiredCurrency(): string {
    const currency = this.text("currency");
    if (currency === undefined) throw missing("currency");
    if (/^[a-z]{3}$/i.test(currency)) return currency.toLowerCase();
    throw new SandboxRefusal(400, `Invalid currency: ${currency}`, { param: "currency" });
  }

  metadata(): Readonly<Record<string, string>> {
    const found = this.#pairs.flatMap(([name, value]): [string, string][] => {
      const key = /^metadata\[([^\]]*)\]$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, value]];
    });
    const { keys, keyCharacters, valueCharacters } = METADATA_LIMITS;
    if (found.length > keys) throw badMetadata(`can have at most ${keys} keys`);
    for (const [key, value] of found) {
      if (key.length > keyCharacters) {
        throw badMetadata(`keys can have at most ${keyCharacters} characters, got ${key}`);
      }
      if (value.length > valueCharacters) {
        throw badMetadata(`values can have at most ${valueCharacters} characters: ${key} has more`);
      }
    }
    return Object.fromEntries(found);
  }
}

/** One comparison of a search query. */
export interface SearchClause {
  /** `metadata['invoice_id']` is the field `metadata.invoice_id`. */
  readonly field: string;
  readonly value: string;
}

const CLAUSE =
  /^(?:(?<field>status|currency|customer)|metadata\[(?<q1>['"])(?<key>.+?)\k<q1>\]):(?<q2>['"])(?<value>(?:\\.|(?!\k<q2>).)*)\k<q2>$/u;

/**
 * The clauses of a search query, all of which must hold: exact matches joined by `AND`.
 * @throws SandboxRefusal for whatever else Stripe's language has
 * @see Stripe, "Search query language"
 */
export function readSearchQuery(query: string): readonly SearchClause[] {
  return query.split(/ +AND +/).map((part) => {
    const found = CLAUSE.exec(part.trim())?.groups;
    if (found === undefined) {
      throw new SandboxRefusal(400, `We were unable to parse your search query at: ${part}`, {
        param: "query",
      });
    }
    const value = (found["value"] ?? "").replaceAll(/\\(.)/gu, "$1");
    return { field: found["field"] ?? `metadata.${found["key"]}`, value };
  });
}

function invalidInteger(param: string, message: string): SandboxRefusal {
  return new SandboxRefusal(400, message, { code: "parameter_invalid_integer", param });
}

function badMetadata(problem: string): SandboxRefusal {
  return new SandboxRefusal(400, `Metadata ${problem}`, { param: "metadata" });
}
