/** How every package reads its options: see `options.ts`. */

export { InvalidOptionsError } from "./errors.ts";
export { type CrossCheck, type OptionRule, type OptionRules, resolveOptions } from "./options.ts";
export { count, durationMs, type NumberRange, oneOf, share, text, toggle } from "./rules.ts";
