/** Markup in which every value is text, so that no name of a tenant can become an element. */

/** Markup that may stand in a page as it is. */
export class Markup {
  readonly #text: string;

  /** Whoever makes one by hand vouches for the text; `markup` makes it from values. */
  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * A template whose own text is markup. Values become text; `Markup` stays what it is, and so does
 * a list of it.
 */
export function markup(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Markup | readonly Markup[])[]
): Markup {
  const filled = parts.map((part, index) => {
    const value = values[index];
    if (value === undefined) return part;
    if (value instanceof Markup) return `${part}${value}`;
    if (typeof value === "object") return `${part}${value.join("")}`;
    return `${part}${escapeText(String(value))}`;
  });
  return new Markup(filled.join(""));
}

/** Text for an element or a quoted attribute. */
function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
