/** One timeline on the page: its tools, its lanes, zoom, filter, and what a reader points at. */

import { drawLabelStrip, drawLane } from "./draw-lane.js";
import { html, svg } from "./element.js";
import { keyed, lanesOf } from "./lanes.js";
import { Pointing } from "./pointing.js";
import { axisTicks, showMs } from "./time-axis.js";
import { Tools } from "./tools.js";

/** @import { Timeline } from "../timeline.ts" */
/** @import { Lane } from "./lanes.js" */
/** @import { View } from "./draw-lane.js" */

const LEAST_WIDTH_PX = 680;
/** Room at both ends, so that what happens there is not cut in half. */
const MARGIN_PX = 10;
const MOST_WIDTH_PX = 400_000;
const AXIS_PX = 22;
/** A tick closer to the end would lose its text. */
const LAST_TICK_PX = 40;
const ZOOM_STEP = 1.6;

/** Draws itself when it is made, and again whenever zoom, filter or width change. */
export class Chart {
  /** @type {Timeline} */ #timeline;
  /** @type {HTMLElement} */ #canvas = html("div", { class: "canvas" });
  /** @type {HTMLElement} */ #box;
  /** @type {Tools} */ #tools;
  /** @type {Pointing} */ #pointing;
  #zoom = 1;
  #drawnWidth = 0;

  /**
   * @param {HTMLElement} holder
   * @param {Timeline} timeline
   */
  constructor(holder, timeline) {
    this.#timeline = timeline;
    this.#box = html(
      "div",
      { class: "box", tabindex: 0, role: "region", "aria-label": `timeline of ${timeline.title}` },
      this.#canvas,
    );
    this.#tools = new Tools(timeline, {
      filtered: () => this.#draw(),
      zoomed: (direction) => this.#zoomBy(direction),
    });
    holder.replaceChildren(this.#tools.element, this.#box);
    this.#pointing = new Pointing(this.#box, this.#canvas, timeline);
    this.#box.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => {
      if (this.#fitWidth() * this.#zoom !== this.#drawnWidth) this.#draw();
    }).observe(this.#box);
    this.#draw();
  }

  #fitWidth() {
    return Math.max(LEAST_WIDTH_PX, this.#box.clientWidth);
  }

  #draw() {
    const width = this.#fitWidth() * this.#zoom;
    const { endMs, lines } = this.#timeline;
    const spanMs = Math.max(1, endMs);
    const xOf = (/** @type {number} */ atMs) =>
      Math.round((MARGIN_PX + (atMs / spanMs) * (width - 2 * MARGIN_PX)) * 10) / 10;
    const lanes = lanesOf(this.#timeline, this.#tools.filter);
    const everywhere = keyed("line", lines).filter(({ of }) => of.worker === undefined);
    const view = { width, endMs: spanMs, xOf, ticks: axisTicks(spanMs, width), everywhere };
    this.#drawnWidth = width;
    this.#canvas.style.width = `${width}px`;
    this.#canvas.replaceChildren(axis(view), ...lanes.map((lane) => laneElement(lane, view)));
    this.#tools.showCount(lanes.reduce((count, { leases }) => count + leases.length, 0));
    this.#pointing.redrawn();
  }

  /**
   * Zooms by one step, 0 back to the whole; the moment in the middle, or under the pointer, stays.
   * @param {number} direction
   * @param {number} [pointerX]
   */
  #zoomBy(direction, pointerX) {
    const box = this.#box;
    const anchorX = pointerX ?? box.clientWidth / 2;
    const share = (box.scrollLeft + anchorX) / this.#drawnWidth;
    const most = MOST_WIDTH_PX / this.#fitWidth();
    const wanted = direction === 0 ? 1 : this.#zoom * ZOOM_STEP ** direction;
    this.#zoom = Math.min(most, Math.max(1, wanted));
    this.#draw();
    box.scrollLeft = share * this.#drawnWidth - anchorX;
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    if (!event.ctrlKey && !event.altKey && !event.metaKey) return;
    event.preventDefault();
    const x = event.clientX - this.#box.getBoundingClientRect().left;
    this.#zoomBy(event.deltaY < 0 ? 1 : -1, x);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const direction = { "+": 1, "=": 1, "-": -1, 0: 0 }[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    this.#zoomBy(direction);
  }
}

/**
 * @param {View} view
 * @returns {SVGElement}
 */
function axis(view) {
  const strip = drawLabelStrip(view, AXIS_PX - 2);
  const height = AXIS_PX + strip.height;
  const ticks = view.ticks
    .filter(({ atMs }) => view.xOf(atMs) < view.width - LAST_TICK_PX)
    .map(({ atMs, text }) =>
      svg(
        "g",
        { class: "axis-tick" },
        svg("path", { d: `M${view.xOf(atMs)} ${AXIS_PX - 6}v6` }),
        svg("text", { x: view.xOf(atMs) + 3, y: AXIS_PX - 7 }, text),
      ),
    );
  return svg(
    "svg",
    { class: "axis", width: view.width, height },
    svg("rect", { class: "axis-ground", width: view.width, height }),
    ...ticks,
    ...strip.nodes,
  );
}

/**
 * @param {Lane} lane
 * @param {View} view
 * @returns {HTMLElement}
 */
function laneElement(lane, view) {
  return html(
    "div",
    { class: "lane" },
    html(
      "div",
      { class: "lane-head" },
      html("span", {}, html("b", {}, lane.name), ` ${lifeWords(lane)}`),
    ),
    drawLane(lane, view),
  );
}

/**
 * @param {Lane} lane
 * @returns {string}
 */
function lifeWords({ worker, leases }) {
  if (worker === undefined) return "effects that no worker reported";
  const count = leases.length === 1 ? "1 lease" : `${leases.length} leases`;
  if (worker.exitedMs === undefined) return `${count}, still running at the end`;
  const how = worker.exitCode === undefined ? "" : ` with ${worker.exitCode}`;
  return `${count}, exited${how} at ${showMs(worker.exitedMs)}`;
}
