/** How moments and durations are written, and where the axis has its ticks. Pure. */

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000,
  300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];
const LEAST_TICK_PX = 84;

/**
 * A duration as people read it: `0 ms`, `350 ms`, `2.4 s`, `3 min 5 s`, `2 h 5 min`.
 * @param {number} durationMs
 * @returns {string}
 */
export function showMs(durationMs) {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${Number((durationMs / 1_000).toFixed(3))} s`;
  const seconds = Math.round(durationMs / 1_000);
  if (seconds < 3_600) return joined(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

/**
 * @param {number} whole
 * @param {string} unit
 * @param {number} rest
 * @param {string} restUnit
 */
function joined(whole, unit, rest, restUnit) {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`;
}

/**
 * A moment of the run, and the wall time of it where the run had one.
 * @param {number} atMs
 * @param {number} startedAtMs
 * @returns {string}
 */
export function showMoment(atMs, startedAtMs) {
  if (startedAtMs === 0) return showMs(atMs);
  return `${showMs(atMs)} (${new Date(startedAtMs + atMs).toISOString().slice(11, 23)} UTC)`;
}

/**
 * Round moments, far enough apart to be read at this width.
 * @param {number} endMs
 * @param {number} widthPx
 * @returns {{ atMs: number, text: string }[]}
 */
export function axisTicks(endMs, widthPx) {
  const leastMs = (endMs * LEAST_TICK_PX) / widthPx;
  const stepMs =
    STEPS_MS.find((step) => step >= leastMs) ?? Math.ceil(leastMs / 86_400_000) * 86_400_000;
  const count = Math.floor(endMs / stepMs) + 1;
  return Array.from({ length: count }, (_, index) => ({
    atMs: index * stepMs,
    text: index === 0 ? "0" : showMs(index * stepMs),
  }));
}
