/** The start of the page: the legend, and a chart for each timeline when it is opened. */

import { Chart } from "./chart.js";
import { html, svg } from "./element.js";
import {
  classOf,
  ENDINGS,
  endingLetter,
  endingPatterns,
  LINES,
  lineSign,
  MARKS,
  markSign,
} from "./shapes.js";

/** @import { LeaseEnding, Timeline, TimelineEffect, TimelineLine } from "../timeline.ts" */

/** @type {Timeline[]} */
const timelines = JSON.parse(document.getElementById("timelines")?.textContent ?? "[]");

document.body.prepend(endingPatterns());
document.getElementById("legend")?.replaceChildren(...legendParts());
for (const holder of document.querySelectorAll("[data-timeline]")) {
  if (holder instanceof HTMLElement) drawWhenOpen(holder);
}

/** @param {HTMLElement} holder */
function drawWhenOpen(holder) {
  const timeline = timelines[Number(holder.dataset["timeline"])];
  const scenario = holder.closest("details");
  if (timeline === undefined || scenario === null) return;
  let isDrawn = false;
  const draw = () => {
    if (isDrawn || !scenario.open) return;
    isDrawn = true;
    new Chart(holder, timeline);
  };
  scenario.addEventListener("toggle", draw);
  draw();
}

/** @returns {HTMLElement[]} */
function legendParts() {
  const endings = /** @type {LeaseEnding[]} */ (Object.keys(ENDINGS));
  const marks = /** @type {TimelineEffect["mark"][]} */ (Object.keys(MARKS));
  const lines = /** @type {TimelineLine["kind"][]} */ (Object.keys(LINES));
  return [
    part(
      "Bars are leases, by their ending",
      endings.map((ending) =>
        entry(sample(30, endingSample(ending)), ending, ENDINGS[ending].about),
      ),
    ),
    part("Marks under them are effects", [
      ...marks.map((mark) => entry(sample(16, markSign(mark, 8, 8)), mark, MARKS[mark].about)),
    ]),
    part("Lines are moments", [
      ...lines.map((kind) => entry(sample(16, ...lineSample(kind)), kind, LINES[kind].about)),
    ]),
    part("In a bar", [
      entry(sample(30, ...waitSample()), "thin", "claimed, its handler has not begun"),
      entry(sample(30, ...tickSample()), "tick", "the lease was extended"),
      entry(
        sample(30, svg("rect", { class: "legend-band", width: 30, height: 16 })),
        "band",
        "a phase of the drain",
      ),
    ]),
  ];
}

/**
 * @param {string} title
 * @param {HTMLElement[]} entries
 */
function part(title, entries) {
  return html("div", { class: "legend-part" }, html("h3", {}, title), html("ul", {}, ...entries));
}

/**
 * @param {Node} picture
 * @param {string} name
 * @param {string} about
 */
function entry(picture, name, about) {
  return html("li", {}, picture, html("span", {}, html("b", {}, name), ` ${about}`));
}

/**
 * @param {number} width
 * @param {...Node} shapes
 */
function sample(width, ...shapes) {
  return svg("svg", { width, height: 16, "aria-hidden": "true" }, ...shapes);
}

/** @param {LeaseEnding} ending */
function endingSample(ending) {
  return svg(
    "g",
    { class: `lease ${classOf("ending", ending)}` },
    svg("rect", { class: "bar", x: 1, y: 2, width: 28, height: 12, rx: 2 }),
    endingLetter(ending, 22.5, 8),
  );
}

/** @param {TimelineLine["kind"]} kind */
function lineSample(kind) {
  return [
    svg(
      "g",
      { class: `moment ${classOf("moment", kind)}` },
      svg("path", { class: "stem", d: "M8 0V16" }),
    ),
    lineSign(kind, 8, 6),
  ];
}

function waitSample() {
  return [
    svg(
      "g",
      { class: "lease ending-acked" },
      svg("rect", { class: "wait", x: 1, y: 6, width: 16, height: 4 }),
      svg("rect", { class: "bar", x: 17, y: 2, width: 12, height: 12, rx: 2 }),
    ),
  ];
}

function tickSample() {
  return [
    svg(
      "g",
      { class: "lease ending-acked" },
      svg("rect", { class: "bar", x: 1, y: 3, width: 28, height: 12, rx: 2 }),
      svg("path", { class: "tick", d: "M10 1v7M19 1v7" }),
    ),
  ];
}
