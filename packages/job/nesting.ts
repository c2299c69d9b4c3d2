/** How deep a JSON text nests, counted without building anything. Pure. */

/**
 * The deepest nesting that a message body may have, envelope included. `JSON.parse` copes with any
 * depth, but schemas, clones and log serializers recurse, and a megabyte of brackets ends them.
 */
const MAX_NESTING = 128;

/** How the limit is named to whoever passed it. */
export const DEPTH_PROBLEM: string = `it nests deeper than ${MAX_NESTING} levels`;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Whether a text nests too deep, brackets within strings apart. */
export function nestsTooDeep(json: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) {
      isInString = true;
    } else if (OPENING.has(code)) {
      depth += 1;
      if (depth > MAX_NESTING) return true;
    } else if (CLOSING.has(code)) {
      depth -= 1;
    }
  }
  return false;
}
