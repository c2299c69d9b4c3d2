/** Follows the pointer and the keyboard through a timeline: details, the same job's bars, panning. */

import { detailsOf } from "./details.js";
import { html } from "./element.js";

/** @import { Timeline } from "../timeline.ts" */

const AWAY_PX = 14;
const EDGE_PX = 8;
const DRAG_PX = 4;

/** One for each chart; the box of details is moved, never more than one is open. */
export class Pointing {
  /** @type {HTMLElement} */ #box;
  /** @type {HTMLElement} */ #canvas;
  /** @type {Timeline} */ #timeline;
  /** @type {HTMLElement} */ #tip = html("div", { class: "tip", role: "status" });
  #shown = "";
  #focused = "";
  /** @type {{ x: number, left: number, moved: boolean } | undefined} */ #drag;

  /**
   * @param {HTMLElement} box
   * @param {HTMLElement} canvas
   * @param {Timeline} timeline
   */
  constructor(box, canvas, timeline) {
    this.#box = box;
    this.#canvas = canvas;
    this.#timeline = timeline;
    this.#tip.hidden = true;
    box.after(this.#tip);
    box.addEventListener("pointerdown", (event) => this.#press(event));
    box.addEventListener("pointermove", (event) => this.#move(event));
    box.addEventListener("pointerup", () => this.#drop());
    box.addEventListener("pointercancel", () => this.#drop());
    box.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.#hide();
    });
    box.addEventListener("scroll", () => this.#hide());
    box.addEventListener("focusin", (event) => this.#focus(event));
    box.addEventListener("focusout", () => this.#hide());
    box.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The bars are new: the first can be reached by Tab, and the focus returns to where it was. */
  redrawn() {
    this.#hide();
    const bars = this.#bars();
    const before = bars.find(({ dataset }) => dataset["key"] === this.#focused);
    (before ?? bars[0])?.setAttribute("tabindex", "0");
    before?.focus({ preventScroll: true });
  }

  /** In the order of their claims, across all workers. @returns {SVGGElement[]} */
  #bars() {
    const bars = [...this.#canvas.querySelectorAll("g.lease")];
    const index = (/** @type {SVGGElement} */ bar) => Number(bar.dataset["key"]?.split(" ")[1]);
    return /** @type {SVGGElement[]} */ (bars).sort((one, other) => index(one) - index(other));
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (event.pointerType !== "mouse") return this.#show(keyedAt(event.target), event);
    if (event.button !== 0) return;
    this.#drag = { x: event.clientX, left: this.#box.scrollLeft, moved: false };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (event.pointerType !== "mouse") return;
    const drag = this.#drag;
    if (drag === undefined || (event.buttons & 1) === 0) {
      this.#drop();
      return this.#show(keyedAt(event.target), event);
    }
    const moved = event.clientX - drag.x;
    drag.moved ||= Math.abs(moved) > DRAG_PX;
    if (!drag.moved) return;
    this.#box.classList.add("dragged");
    this.#box.scrollLeft = drag.left - moved;
  }

  #drop() {
    this.#drag = undefined;
    this.#box.classList.remove("dragged");
  }

  /** @param {FocusEvent} event */
  #focus({ target }) {
    const element = keyedAt(target);
    if (element === undefined || !(target instanceof SVGElement)) return;
    this.#focused = element.dataset["key"] ?? "";
    const { left, bottom, width } = element.getBoundingClientRect();
    this.#show(element, { clientX: left + Math.min(width, 40), clientY: bottom });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape") this.#hide();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const focused = document.activeElement;
    if (step === undefined || !(focused instanceof SVGGElement)) return;
    const bars = this.#bars();
    const next = bars[bars.indexOf(focused) + step];
    event.preventDefault();
    if (next === undefined) return;
    focused.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    next.focus({ preventScroll: true });
  }

  /**
   * @param {HTMLElement | SVGElement | undefined} element
   * @param {{ clientX: number, clientY: number }} at
   */
  #show(element, at) {
    const key = element?.dataset["key"];
    const details = key === undefined ? undefined : detailsOf(this.#timeline, key);
    if (element === undefined || key === undefined || details === undefined) return this.#hide();
    if (key !== this.#shown) {
      this.#shown = key;
      this.#tip.replaceChildren(
        html("b", {}, details.title),
        html(
          "dl",
          {},
          ...details.pairs.flatMap(([name, value]) => [
            html("dt", {}, name),
            html("dd", {}, value),
          ]),
        ),
      );
      this.#highlight(element);
    }
    this.#tip.hidden = false;
    this.#place(at);
  }

  /** Beside the pointer, and always wholly on the screen. @param {{ clientX: number, clientY: number }} at */
  #place({ clientX, clientY }) {
    const { width, height } = this.#tip.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const right = clientX + AWAY_PX;
    const below = clientY + AWAY_PX;
    const left = right + width > clientWidth - EDGE_PX ? clientX - AWAY_PX - width : right;
    const top = below + height > clientHeight - EDGE_PX ? clientY - AWAY_PX - height : below;
    this.#tip.style.left = `${Math.max(EDGE_PX, Math.min(left, clientWidth - width - EDGE_PX))}px`;
    this.#tip.style.top = `${Math.max(EDGE_PX, top)}px`;
  }

  /** The other leases of the same message or job, on whichever worker. @param {HTMLElement | SVGElement} element */
  #highlight(element) {
    const { message, job } =
      /** @type {SVGElement | null} */ (element.closest("g.lease"))?.dataset ?? {};
    for (const bar of this.#bars()) {
      const { dataset } = bar;
      const isSame =
        message !== undefined &&
        (dataset["message"] === message || (job !== undefined && dataset["job"] === job));
      bar.classList.toggle("same", isSame);
    }
    this.#canvas.classList.toggle("pointed", message !== undefined);
  }

  #hide() {
    if (this.#tip.hidden) return;
    this.#tip.hidden = true;
    this.#shown = "";
    this.#canvas.classList.remove("pointed");
    for (const bar of this.#canvas.querySelectorAll(".same")) bar.classList.remove("same");
  }
}

/**
 * What a reader points at: the nearest thing that has details.
 * @param {EventTarget | null} target
 * @returns {HTMLElement | SVGElement | undefined}
 */
function keyedAt(target) {
  const element = target instanceof Element ? target.closest("[data-key]") : null;
  return element instanceof HTMLElement || element instanceof SVGElement ? element : undefined;
}
