/** Does something until it has succeeded once. */

/**
 * A function that makes its value the first time, shares an attempt that is under way, and forgets
 * one that failed: the next call tries again.
 */
export function rememberSuccess<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let attempt: Promise<Value> | undefined;
  return () => {
    if (attempt !== undefined) return attempt;
    const begun = make();
    attempt = begun;
    begun.catch(() => {
      attempt = undefined;
    });
    return begun;
  };
}
