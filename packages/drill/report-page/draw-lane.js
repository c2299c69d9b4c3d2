/** Draws one lane: when its process lived, the bands of its drain, its leases, effects and lines. */

import { drawLeases } from "./draw-lease.js";
import { svg } from "./element.js";
import { placeLabels } from "./lanes.js";
import { classOf, lineSign, markSign } from "./shapes.js";

/** @import { Keyed, Lane } from "./lanes.js" */
/** @import { TimelineLine, TimelinePhase } from "../timeline.ts" */
/**
 * @typedef {object} View
 * @property {number} width
 * @property {number} endMs
 * @property {(atMs: number) => number} xOf
 * @property {{ atMs: number, text: string }[]} ticks
 * @property {Keyed<TimelineLine>[]} everywhere Lines that concern every worker.
 */
/** @typedef {{ key: string, x: number, text: string, kind?: TimelineLine["kind"], width: number }} Label */

const BAR_ROW_PX = 17;
const MARK_ROW_PX = 10;
const LABEL_ROW_PX = 16;
const MOST_LABEL_ROWS = 5;
/**
 * Who gives way last where labels meet; undefined is a phase.
 * @type {(TimelineLine["kind"] | undefined)[]}
 */
const LABEL_ORDER = ["signal", "deadline", undefined, "fault", "note"];
/** About the width of a letter at the labels' size; a label that is a little too wide does no harm. */
const LETTER_PX = 6.2;
const LONGEST_LABEL = 44;

/**
 * @param {Lane} lane
 * @param {View} view
 * @returns {SVGElement}
 */
export function drawLane(lane, view) {
  const labels = labelsOf(lane, view);
  const rows = placeLabels(labels, MOST_LABEL_ROWS);
  const top = (Math.max(-1, ...rows) + 1) * LABEL_ROW_PX + 5;
  const rowPx = lane.leases.some(({ marks }) => marks.length > 0)
    ? BAR_ROW_PX + MARK_ROW_PX
    : BAR_ROW_PX;
  const least = lane.worker === undefined ? 0 : 1;
  const strayTop = top + Math.max(least, lane.rows) * rowPx;
  const height = strayTop + (lane.strays.length > 0 ? BAR_ROW_PX : 0) + 3;
  return svg(
    "svg",
    { class: "lane-picture", width: view.width, height, role: "group", "aria-label": lane.name },
    ...lifeOf(lane, view, height),
    svg("path", {
      class: "grid",
      d: view.ticks.map(({ atMs }) => `M${view.xOf(atMs)} 0V${height}`).join(""),
    }),
    ...lane.phases.map((phase) => band(phase, view, height)),
    ...[...view.everywhere, ...lane.lines].map((line) => moment(line, view, height)),
    ...drawLeases(lane, view, top, rowPx),
    ...straysOf(lane, view, strayTop + BAR_ROW_PX / 2),
    ...labels.map((label, index) => labelText(label, rows[index] ?? -1, view)),
  );
}

/**
 * The labels of the lines that concern every worker, on a strip of their own.
 * @param {View} view
 * @param {number} top
 * @returns {{ height: number, nodes: SVGElement[] }}
 */
export function drawLabelStrip(view, top) {
  const labels = view.everywhere.map((line) => lineLabel(line, view));
  const rows = placeLabels(labels, MOST_LABEL_ROWS);
  const nodes = labels.map((label, index) => labelText(label, rows[index] ?? -1, view, top));
  return { height: (Math.max(-1, ...rows) + 1) * LABEL_ROW_PX, nodes };
}

/**
 * A line through the whole height.
 * @param {Keyed<TimelineLine>} line
 * @param {View} view
 * @param {number} height
 * @returns {SVGElement}
 */
function moment({ key, of }, view, height) {
  const x = view.xOf(of.atMs);
  return svg(
    "g",
    { class: `moment ${classOf("moment", of.kind)}`, "data-key": key },
    svg("path", { class: "hit", d: `M${x - 4} 0h8V${height}h-8Z` }),
    svg("path", { class: "stem", d: `M${x} 0V${height}` }),
  );
}

/**
 * @param {Lane} lane
 * @param {View} view
 * @returns {Label[]}
 */
function labelsOf({ phases, lines }, view) {
  const bands = phases.map(({ key, of }) => ({
    key,
    x: view.xOf(of.fromMs),
    text: of.phase,
    width: of.phase.length * LETTER_PX + 14,
  }));
  const labels = [...bands, ...lines.map((line) => lineLabel(line, view))];
  const weight = (/** @type {Label} */ { kind }) => LABEL_ORDER.indexOf(kind);
  return labels.sort((one, other) => weight(one) - weight(other) || one.x - other.x);
}

/**
 * @param {Keyed<TimelineLine>} line
 * @param {View} view
 * @returns {Label}
 */
function lineLabel({ key, of }, view) {
  const text = of.text.length > LONGEST_LABEL ? `${of.text.slice(0, LONGEST_LABEL - 1)}…` : of.text;
  const width = text.length * LETTER_PX + 18;
  const x = view.xOf(of.atMs);
  return { key, x: Math.max(0, Math.min(x, view.width - width)), text, kind: of.kind, width };
}

/**
 * @param {Label} label
 * @param {number} row
 * @param {View} view
 * @param {number} [top]
 * @returns {SVGElement}
 */
function labelText({ key, x, text, kind }, row, view, top = 0) {
  if (row === -1) return svg("g");
  const y = top + row * LABEL_ROW_PX + LABEL_ROW_PX / 2 + 2;
  return svg(
    "g",
    { class: kind === undefined ? "label label-phase" : `label label-${kind}`, "data-key": key },
    ...(kind === undefined ? [] : [lineSign(kind, Math.min(Math.max(x, 6), view.width - 6), y)]),
    svg("text", { x: x + (kind === undefined ? 4 : 9), y: y + 4 }, text),
  );
}

/**
 * Effects that no bar explains, by name where there is room.
 * @param {Lane} lane
 * @param {View} view
 * @param {number} y
 * @returns {SVGElement[]}
 */
function straysOf({ strays }, view, y) {
  const labels = strays.map(({ key, of }) => {
    const text = `${of.effect} of ${of.jobId}`;
    return { key, x: view.xOf(of.atMs) - 6, text, width: text.length * LETTER_PX + 22 };
  });
  const rows = placeLabels(labels, 1);
  return strays.map(({ key, of }, index) => {
    const { x, text } = labels[index] ?? { x: 0, text: "" };
    return svg(
      "g",
      { class: "label stray", "data-key": key },
      markSign(of.mark, x + 6, y, key),
      ...(rows[index] === -1 ? [] : [svg("text", { x: x + 15, y: y + 4 }, text)]),
    );
  });
}

/**
 * The time in which the process lived; before and after it nothing can be held.
 * @param {Lane} lane
 * @param {View} view
 * @param {number} height
 * @returns {SVGElement[]}
 */
function lifeOf({ worker }, view, height) {
  if (worker === undefined) return [];
  const from = view.xOf(worker.bootedMs);
  const to = view.xOf(worker.exitedMs ?? view.endMs);
  const life = svg("rect", { class: "life", x: from, y: 0, width: Math.max(1, to - from), height });
  if (worker.exitedMs === undefined) return [life];
  return [life, svg("path", { class: "exit", d: `M${to} 0V${height}` })];
}

/**
 * @param {Keyed<TimelinePhase>} phase
 * @param {View} view
 * @param {number} height
 * @returns {SVGElement}
 */
function band({ key, of }, view, height) {
  const x = view.xOf(of.fromMs);
  const width = Math.max(1, view.xOf(of.toMs) - x);
  return svg(
    "g",
    { class: `band ${classOf("band", of.phase)}`, "data-key": key },
    svg("rect", { x, y: 0, width, height }),
    svg("path", { d: `M${x} 0V${height}` }),
  );
}
