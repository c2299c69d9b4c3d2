/** The signs of the timeline, as the chart and its legend draw them. */

import { svg } from "./element.js";

/** @import { LeaseEnding, TimelineEffect, TimelineLine } from "../timeline.ts" */

/**
 * Each ending by a letter, beside its colour and its pattern.
 * @type {Readonly<Record<LeaseEnding, { letter: string, about: string }>>}
 */
export const ENDINGS = {
  acked: { letter: "A", about: "done and deleted" },
  retried: { letter: "Y", about: "failed, to be retried" },
  released: { letter: "R", about: "given back unfinished" },
  "dead-lettered": { letter: "D", about: "moved to the dead-letter queue" },
  parked: { letter: "P", about: "waits for an operator" },
  lost: { letter: "L", about: "another worker may have it" },
  lapsed: { letter: "E", about: "left to expire" },
  "cut off": { letter: "X", about: "its process died" },
  open: { letter: "O", about: "still held at the end" },
};

/**
 * Each mark of an effect; the weightiest first, which is what a narrow bar shows.
 * @type {Readonly<Record<TimelineEffect["mark"], { path: string, about: string }>>}
 */
export const MARKS = {
  unknown: { path: "M0-5.5 5.5 4.5H-5.5Z", about: "its outcome is unknown" },
  rejected: { path: "M-4.5-4.5 4.5 4.5M4.5-4.5-4.5 4.5", about: "refused for good" },
  parked: { path: "M-4.5-4.5H4.5V4.5H-4.5Z", about: "put aside for an operator" },
  applied: { path: "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z", about: "happened, says the other side" },
  done: { path: "M0-5.5 5 0 0 5.5-5 0Z", about: "recorded as done" },
  started: { path: "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z", about: "entered in the ledger" },
};

/** @type {Readonly<Record<TimelineLine["kind"], { path: string, about: string }>>} */
export const LINES = {
  signal: { path: "M-5-4H5L0 5Z", about: "a signal" },
  deadline: { path: "M0-5 5 0 0 5-5 0Z", about: "a deadline" },
  fault: { path: "M1-6-4 1H0L-1 6 4-1H0Z", about: "an injected fault" },
  note: { path: "M3 0A3 3 0 1 1-3 0A3 3 0 1 1 3 0Z", about: "a note" },
};

/**
 * A class name from a word of the data.
 * @param {string} prefix
 * @param {string} word
 * @returns {string}
 */
export function classOf(prefix, word) {
  return `${prefix}-${word.replace(/[^a-z]+/g, "-")}`;
}

/**
 * The sign of one step of an effect.
 * @param {TimelineEffect["mark"]} mark
 * @param {number} x
 * @param {number} y
 * @param {string} [key]
 * @returns {SVGElement}
 */
export function markSign(mark, x, y, key) {
  return svg("path", {
    class: `mark ${classOf("mark", mark)}`,
    d: MARKS[mark].path,
    transform: `translate(${x} ${y})`,
    "data-key": key,
  });
}

/**
 * The sign at the head of a line.
 * @param {TimelineLine["kind"]} kind
 * @param {number} x
 * @param {number} y
 * @returns {SVGElement}
 */
export function lineSign(kind, x, y) {
  return svg("path", {
    class: `head ${classOf("head", kind)}`,
    d: LINES[kind].path,
    transform: `translate(${x} ${y})`,
  });
}

/**
 * The letter of an ending on a ground of its own, so that no pattern runs through it.
 * @param {LeaseEnding} ending
 * @param {number} x Its middle.
 * @param {number} y Its middle.
 * @returns {SVGElement}
 */
export function endingLetter(ending, x, y) {
  return svg(
    "g",
    { class: `letter ${classOf("letter", ending)}` },
    svg("rect", { x: x - 5.5, y: y - 6, width: 11, height: 12, rx: 2 }),
    svg("text", { x, y: y + 3.5, "text-anchor": "middle" }, ENDINGS[ending].letter),
  );
}

/**
 * The patterns that the bars are filled with, one for each ending; a page has them once.
 * @returns {SVGElement}
 */
export function endingPatterns() {
  /** @type {Partial<Record<LeaseEnding, string>>} */
  const strokes = {
    retried: "M2 0V8M6 0V8",
    released: "M-2 6 2 10M-2-2 10 10M6-2 10 2",
    "dead-lettered": "M0 2H8M0 6H8",
    parked: "M0 4H8M4 0V8",
    lost: "M-2-2 10 10M10-2-2 10",
    lapsed: "M2 2h1.6M6 6h1.6",
    "cut off": "M-2 2 2-2M-2 10 10-2M6 10 10 6",
  };
  const patterns = Object.entries(strokes).map(([ending, d]) =>
    svg(
      "pattern",
      { id: classOf("pattern", ending), width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 8, height: 8, class: classOf("ground", ending) }),
      svg("path", { d, class: "stroke" }),
    ),
  );
  return svg("svg", { class: "patterns", "aria-hidden": "true" }, svg("defs", {}, ...patterns));
}
