/** Checks a payload by any Standard Schema library, and says what is wrong without showing it. */

import type { StandardSchemaV1 } from "@standard-schema/spec";

/** Whether a payload fits its schema. */
export type PayloadCheck<Payload> =
  | { readonly kind: "ok"; readonly payload: Payload }
  /** One sentence for each problem: where it lies and what was expected there. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const SHOWN_PROBLEMS = 10;
const SHOWN_CHARACTERS = 60;

/**
 * The payload as its schema hands it on, or the problems. Never throws: a schema that throws or
 * answers nonsense refuses the payload.
 *
 * Of an issue only its path and the schema's own words (`code` or `type`, `expected`) are shown:
 * messages of several libraries quote the value, which may be a secret.
 */
export async function checkPayload<Payload>(
  schema: StandardSchemaV1<unknown, Payload>,
  payload: unknown,
): Promise<PayloadCheck<Payload>> {
  try {
    const result = await schema["~standard"].validate(payload);
    if (result.issues === undefined) return { kind: "ok", payload: result.value };
    return { kind: "invalid", problems: describeIssues(result.issues) };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return { kind: "invalid", problems: [`its schema threw instead of answering (${name})`] };
  }
}

function describeIssues(issues: readonly StandardSchemaV1.Issue[]): readonly string[] {
  const shown = issues.slice(0, SHOWN_PROBLEMS).map(describeIssue);
  const left = issues.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function describeIssue(issue: StandardSchemaV1.Issue): string {
  const { code, type, expected } = issue as { code?: unknown; type?: unknown; expected?: unknown };
  const rule = [code, type].find((word) => typeof word === "string") ?? "refused";
  const wanted = typeof expected === "string" ? `, expected ${shorten(expected)}` : "";
  return `${describePath(issue.path)}: ${shorten(rule as string)}${wanted}`;
}

function describePath(path: StandardSchemaV1.Issue["path"]): string {
  // Spread first: arktype's path is an array of a class of its own whose `map` adds a step.
  const keys = [...(path ?? [])].map((part) => (typeof part === "object" ? part.key : part));
  const steps = keys.map((key) =>
    typeof key === "number" ? `[${key}]` : `.${shorten(String(key))}`,
  );
  return `payload${steps.join("")}`;
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
}
