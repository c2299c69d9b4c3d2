/** What a handler threw, whatever it is, in words that a log can carry. Pure. */

/** An error as data. */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

const SHOWN_CHARACTERS = 1_000;
const SHOWN_STACK_CHARACTERS = 4_000;

/**
 * Name, message and stack of anything that can be thrown: an error, a text, `undefined`, a frozen
 * object, one whose getters throw. Never throws itself, and never shows the fields of an object.
 */
export function describeThrown(thrown: unknown): ErrorInfo {
  if (typeof thrown !== "object" || thrown === null) {
    const message = typeof thrown === "string" ? thrown : `threw ${typeof thrown}`;
    return { name: "NonError", message: shorten(message, SHOWN_CHARACTERS) };
  }
  const name = textOf(thrown, "name") ?? "NonError";
  const message = textOf(thrown, "message") ?? "threw an object that is no error";
  const stack = textOf(thrown, "stack");
  return {
    name: shorten(name, SHOWN_CHARACTERS),
    message: shorten(message, SHOWN_CHARACTERS),
    ...(stack === undefined ? {} : { stack: shorten(stack, SHOWN_STACK_CHARACTERS) }),
  };
}

/** The stable word of an error; errors are told apart by it, also across two copies of a package. */
export function codeOf(thrown: unknown): string | undefined {
  return typeof thrown === "object" && thrown !== null ? textOf(thrown, "code") : undefined;
}

/**
 * Whether an error only passes an abort on: it is the signal's reason, was caused by it, or is the
 * error by which platform and libraries say that they were aborted.
 */
export function isAbortPassedOn(thrown: unknown, reason: unknown): boolean {
  const seen = new Set<unknown>();
  for (let error = thrown; !seen.has(error); error = fieldOf(error, "cause")) {
    if (error === undefined || error === null) return false;
    if (error === reason || codeOf(error) === "JOB_ABORTED") return true;
    if (textOf(error, "name") === "AbortError") return true;
    seen.add(error);
  }
  return false;
}

function textOf(thrown: unknown, field: string): string | undefined {
  const value = fieldOf(thrown, field);
  return typeof value === "string" ? value : undefined;
}

/** One field of anything that can be thrown; `undefined` when it cannot be read. */
export function fieldOf(thrown: unknown, field: string): unknown {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  try {
    return (thrown as Record<string, unknown>)[field];
  } catch {
    return undefined; // a getter or proxy that throws says nothing
  }
}

function shorten(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}...` : text;
}
