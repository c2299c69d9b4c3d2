/** What is said of one thing of a timeline when a reader points at it. Pure. */

import { ENDINGS, LINES, MARKS } from "./shapes.js";
import { showMoment, showMs } from "./time-axis.js";

/** @import { Timeline, TimelineEffect, TimelineLease, TimelineLine, TimelinePhase } from "../timeline.ts" */
/** @typedef {{ title: string, pairs: (readonly [name: string, value: string])[] }} Details */

/**
 * The details of the thing with this key, for example `lease 12`.
 * @param {Timeline} timeline
 * @param {string} key
 * @returns {Details | undefined}
 */
export function detailsOf(timeline, key) {
  const [kind, index] = key.split(" ");
  const at = Number(index);
  const { leases, phases, lines, effects } = timeline;
  if (kind === "lease" && leases[at]) return leaseDetails(leases[at], timeline);
  if (kind === "phase" && phases[at]) return phaseDetails(phases[at], timeline);
  if (kind === "line" && lines[at]) return lineDetails(lines[at], timeline);
  if (kind === "effect" && effects[at]) return effectDetails(effects[at], timeline);
  return undefined;
}

/**
 * One line of words for those who do not see the bar.
 * @param {TimelineLease} lease
 * @returns {string}
 */
export function leaseWords(lease) {
  const { jobId, messageId, worker, ending, fromMs, toMs } = lease;
  const job = jobId === undefined ? `message ${messageId}` : `job ${jobId}`;
  return `${job} on ${worker}, ${showMs(fromMs)} to ${showMs(toMs)}, ${ending}`;
}

/**
 * @param {TimelineLease} lease
 * @param {Timeline} timeline
 * @returns {Details}
 */
function leaseDetails(lease, { startedAtMs }) {
  const { fromMs, startedMs, toMs, ending, extensionsMs } = lease;
  const moment = (/** @type {number} */ atMs) => showMoment(atMs, startedAtMs);
  return {
    title: lease.jobId ?? lease.messageId,
    pairs: known([
      ["ending", `${ending} (${ENDINGS[ending].letter}): ${ENDINGS[ending].about}`],
      ["tenant", lease.tenantId],
      ["type", lease.jobType],
      ["worker", lease.worker],
      ["queue", lease.queue],
      ["message", lease.messageId],
      ["claimed", moment(fromMs)],
      [
        "started",
        startedMs === undefined
          ? "never"
          : `${moment(startedMs)}, ${showMs(startedMs - fromMs)} after its claim`,
      ],
      ["ended", moment(toMs)],
      ["held for", showMs(toMs - fromMs)],
      [
        "extended",
        extensionsMs.length === 0
          ? "never"
          : `${extensionsMs.length} times, last at ${showMs(extensionsMs.at(-1) ?? 0)}`,
      ],
    ]),
  };
}

/**
 * @param {TimelinePhase} phase
 * @param {Timeline} timeline
 * @returns {Details}
 */
function phaseDetails({ worker, phase, fromMs, toMs }, { startedAtMs }) {
  return {
    title: phase,
    pairs: [
      ["worker", worker],
      ["from", showMoment(fromMs, startedAtMs)],
      ["to", showMoment(toMs, startedAtMs)],
      ["took", showMs(toMs - fromMs)],
    ],
  };
}

/**
 * @param {TimelineLine} line
 * @param {Timeline} timeline
 * @returns {Details}
 */
function lineDetails({ worker, kind, text, atMs }, { startedAtMs }) {
  return {
    title: text,
    pairs: [
      ["kind", LINES[kind].about],
      ["worker", worker ?? "all"],
      ["at", showMoment(atMs, startedAtMs)],
    ],
  };
}

/**
 * @param {TimelineEffect} effect
 * @param {Timeline} timeline
 * @returns {Details}
 */
function effectDetails(effect, { startedAtMs }) {
  return {
    title: `${effect.effect}: ${effect.mark}`,
    pairs: known([
      ["meaning", MARKS[effect.mark].about],
      ["tenant", effect.tenantId],
      ["job", effect.jobId],
      ["worker", effect.worker ?? "none reported it"],
      ["at", showMoment(effect.atMs, startedAtMs)],
      ["note", effect.text],
    ]),
  };
}

/**
 * @param {(readonly [name: string, value: string | undefined])[]} pairs
 * @returns {(readonly [name: string, value: string])[]}
 */
function known(pairs) {
  return pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [/** @type {const} */ ([name, value])],
  );
}
