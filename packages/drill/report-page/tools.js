/** What stands above a timeline: the filters, the count of what they leave, and the zoom. */

import { html } from "./element.js";

/** @import { Timeline } from "../timeline.ts" */
/** @import { Filter } from "./lanes.js" */
/** @typedef {{ filtered: () => void, zoomed: (direction: number) => void }} Listener */

let made = 0;

/** The tools of one chart. */
export class Tools {
  /** @type {HTMLElement} */ element;
  /** @type {HTMLSelectElement} */ #tenant;
  /** @type {HTMLSelectElement} */ #ending;
  /** @type {HTMLInputElement} */ #job;
  /** @type {HTMLOutputElement} */ #count = html("output", { class: "count" });
  #all;

  /**
   * @param {Timeline} timeline
   * @param {Listener} listener
   */
  constructor({ leases, effects }, { filtered, zoomed }) {
    made += 1;
    this.#all = leases.length;
    const tenants = [...leases, ...effects].flatMap(({ tenantId }) => tenantId ?? []);
    this.#tenant = chooser("all tenants", tenants);
    this.#ending = chooser(
      "any ending",
      leases.map(({ ending }) => ending),
    );
    this.#job = html("input", {
      type: "search",
      placeholder: "job or message",
      spellcheck: "false",
      name: `job-${made}`,
    });
    this.#tenant.addEventListener("change", filtered);
    this.#ending.addEventListener("change", filtered);
    this.#job.addEventListener("input", filtered);
    this.element = html(
      "div",
      { class: "tools" },
      html("label", { class: "tenant" }, html("span", {}, "Tenant"), this.#tenant),
      html("label", { class: "job" }, html("span", {}, "Job"), this.#job),
      html("label", { class: "ending" }, html("span", {}, "Ending"), this.#ending),
      this.#count,
      zoomButtons(zoomed),
    );
  }

  /** @returns {Filter} */
  get filter() {
    return {
      tenantId: this.#tenant.value,
      job: this.#job.value,
      ending: this.#ending.value,
    };
  }

  /** @param {number} shown */
  showCount(shown) {
    const noun = this.#all === 1 ? "lease" : "leases";
    this.#count.textContent =
      shown === this.#all ? `${shown} ${noun}` : `${shown} of ${this.#all} ${noun}`;
  }
}

/**
 * A choice among the words that occur, each with its count.
 * @param {string} everything
 * @param {readonly string[]} words
 * @returns {HTMLSelectElement}
 */
function chooser(everything, words) {
  const counts = Map.groupBy(words, (word) => word);
  const options = [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([word]) => html("option", { value: word }, word));
  return html("select", {}, html("option", { value: "" }, everything), ...options);
}

/**
 * @param {(direction: number) => void} zoomed
 * @returns {HTMLElement}
 */
function zoomButtons(zoomed) {
  const button = (
    /** @type {string} */ sign,
    /** @type {string} */ about,
    /** @type {number} */ to,
  ) => {
    const element = html("button", { type: "button", title: about, "aria-label": about }, sign);
    element.addEventListener("click", () => zoomed(to));
    return element;
  };
  return html(
    "div",
    { class: "zoom", role: "group", "aria-label": "zoom" },
    button("−", "zoom out (key -, or Ctrl and wheel)", -1),
    button("Fit", "show the whole run (key 0)", 0),
    button("+", "zoom in (key +, or Ctrl and wheel)", 1),
  );
}
