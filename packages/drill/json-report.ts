/** A report for machines: one JSON document, the verdicts first. Pure. */

import { groupScenarios, type Report } from "./report.ts";
import { orderTimeline } from "./timeline.ts";

/**
 * The report as JSON in snake_case, on lines that people can read; a promise without a bound has
 * `null`. Timelines keep the names of {@link Timeline}, so that they can be read back.
 * @throws TimelineError when a timeline contradicts itself.
 */
export function jsonReport(report: Report): string {
  const scenarios = groupScenarios(report);
  const broken = report.verdicts.filter(({ held }) => !held);
  const value = {
    title: report.title,
    held: broken.length === 0,
    totals: {
      scenarios: scenarios.length,
      scenarios_broken: scenarios.filter((scenario) => scenario.broken.length > 0).length,
      promises: report.verdicts.length,
      promises_broken: broken.length,
    },
    numbers: report.numbers,
    verdicts: report.verdicts.map(({ scenario, promise, held, seen, bound }) => ({
      scenario,
      promise,
      held,
      seen,
      bound: bound ?? null,
    })),
    timelines: report.timelines.map(orderTimeline),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}
