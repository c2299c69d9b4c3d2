/** Draws leases as bars: how long they were held, how they ended, and what their jobs did. */

import { leaseWords } from "./details.js";
import { svg } from "./element.js";
import { classOf, endingLetter, MARKS, markSign } from "./shapes.js";

/** @import { View } from "./draw-lane.js" */
/** @import { Keyed, Lane, LaneLease } from "./lanes.js" */
/** @import { TimelineEffect } from "../timeline.ts" */

const BAR_PX = 12;
const LEAST_BAR_PX = 3;
const LEAST_HIT_PX = 9;
const LETTER_ROOM_PX = 15;
const MARKS_ROOM_PX = 26;

/**
 * From right to left, so that each bar knows the room up to its neighbour.
 * @param {Lane} lane
 * @param {View} view
 * @param {number} top
 * @param {number} rowPx
 * @returns {SVGElement[]}
 */
export function drawLeases({ leases }, view, top, rowPx) {
  /** @type {Map<number, number>} */
  const nextX = new Map();
  return leases
    .toReversed()
    .map((lease) => {
      const room = nextX.get(lease.row) ?? view.width;
      nextX.set(lease.row, view.xOf(lease.of.fromMs));
      return bar(lease, view, top + lease.row * rowPx + 2, room);
    })
    .reverse();
}

/**
 * @param {LaneLease} lease
 * @param {View} view
 * @param {number} y
 * @param {number} room
 * @returns {SVGElement}
 */
function bar(lease, view, y, room) {
  const { key, of, marks } = lease;
  const x = view.xOf(of.fromMs);
  const end = Math.min(Math.max(view.xOf(of.toMs), x + LEAST_BAR_PX), Math.max(room, x + 1));
  const startedX = of.startedMs === undefined ? end : Math.min(view.xOf(of.startedMs), end - 2);
  const thin = { x, y: y + BAR_PX / 2 - 2, width: Math.max(0, startedX - x), height: 4 };
  // A hair's breadth less than its time, so that it can be told from the next in its row.
  const thick = { x: startedX, y, width: Math.max(1, end - startedX - 1), height: BAR_PX, rx: 2 };
  const hitWidth = Math.max(end - x, Math.min(LEAST_HIT_PX, room - x));
  const hit = { x, y: y - 2, width: hitWidth, height: BAR_PX + 4 };
  return svg(
    "g",
    {
      class: `lease ${classOf("ending", of.ending)}`,
      "data-key": key,
      "data-message": of.messageId,
      "data-job": of.jobId,
      tabindex: -1,
      role: "img",
      "aria-label": leaseWords(of),
    },
    svg("rect", { class: "hit", ...hit }),
    svg("rect", { class: "wait", ...thin }),
    ...(of.startedMs === undefined ? [] : [svg("rect", { class: "bar", ...thick })]),
    svg("path", { class: "tick", d: ticksOf(of.extensionsMs, view, y) }),
    ...letterOf(lease, x, end, y, room),
    ...shownMarks(marks, end - x).map(({ key, of }) =>
      markSign(of.mark, view.xOf(of.atMs), y + BAR_PX + 6, key),
    ),
  );
}

/**
 * @param {readonly number[]} extensionsMs
 * @param {View} view
 * @param {number} y
 */
function ticksOf(extensionsMs, view, y) {
  return extensionsMs.map((atMs) => `M${view.xOf(atMs)} ${y - 4}v9`).join("");
}

/**
 * Inside at its end; behind it where it is too short, but for the ending that needs no look.
 * @param {LaneLease} lease
 * @param {number} x
 * @param {number} end
 * @param {number} y
 * @param {number} room
 * @returns {SVGElement[]}
 */
function letterOf({ of }, x, end, y, room) {
  if (end - x >= LETTER_ROOM_PX) return [endingLetter(of.ending, end - 6.5, y + BAR_PX / 2)];
  if (of.ending === "acked" || room - end < LETTER_ROOM_PX) return [];
  return [endingLetter(of.ending, end + 7.5, y + BAR_PX / 2)];
}

/**
 * All of them where there is room, else the one that matters most.
 * @param {Keyed<TimelineEffect>[]} marks
 * @param {number} width
 */
function shownMarks(marks, width) {
  if (width >= MARKS_ROOM_PX || marks.length < 2) return marks;
  const order = Object.keys(MARKS);
  const weight = (/** @type {Keyed<TimelineEffect>} */ { of }) => order.indexOf(of.mark);
  return marks.toSorted((one, other) => weight(one) - weight(other)).slice(0, 1);
}
