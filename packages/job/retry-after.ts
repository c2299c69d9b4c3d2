/** How long a provider asks to be left alone, as HTTP says it. Pure. */

const SECONDS = /^\d+(?:\.\d+)?$/u;
/** Both forms that are still sent; one without a zone could only be guessed at. */
const HTTP_DATE = /^[A-Z][a-z]+, .+ GMT$/u;

/**
 * What the header `Retry-After` asks for: for `NotSentError`, where a provider refuses before it acts.
 *
 * A date is counted from the answer's own header `Date`, so that it does not matter how far the two
 * clocks are apart. One that is past asks for nothing: 0.
 *
 * @returns milliseconds; `undefined` when there is no such header, or none that can be read
 * @see RFC 9110, "Retry-After"
 */
export function retryAfterMs({
  retryAfter,
  date,
}: {
  readonly retryAfter: string | null | undefined;
  readonly date?: string | null | undefined;
}): number | undefined {
  const wanted = retryAfter?.trim() ?? "";
  if (SECONDS.test(wanted)) return Math.ceil(Number(wanted) * 1_000);
  const leftMs = readDate(wanted) - readDate(date?.trim() ?? "");
  return Number.isNaN(leftMs) ? undefined : Math.max(0, leftMs);
}

function readDate(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
