/** A report as one page that needs nothing beside it: no network, no file. */

import { createHash } from "node:crypto";
import { Markup, markup } from "./markup.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";
import {
  groupScenarios,
  outcomeSentence,
  type Report,
  type ScenarioReport,
  type VerdictRow,
} from "./report.ts";
import { orderTimeline, type Timeline } from "./timeline.ts";

/**
 * The page as text. The verdicts are in its markup and can be read without the script; a scenario
 * with a broken promise comes first and is open. Names and texts may hold anything.
 * @throws TimelineError when a timeline contradicts itself.
 */
export function htmlReport(report: Report): string {
  const timelines = report.timelines.map(orderTimeline);
  const scenarios = groupScenarios({ ...report, timelines });
  const style = pageStyle();
  const script = pageScript();
  return `${markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy(style, script)}">
<title>${report.title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
${header(report, scenarios)}
<main>
${legend(timelines)}
${scenarios.map((scenario) => section(scenario, timelines, scenarios.length === 1))}
</main>
<script type="application/json" id="timelines">${new Markup(inScript(timelines))}</script>
<script type="module">${new Markup(script)}</script>
</body>
</html>`}\n`;
}

/** The browser itself refuses all but these two texts, and every request. */
function policy(style: string, script: string): string {
  const hash = (text: string) =>
    `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
  return `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}`;
}

/** JSON in which no text can end the element that holds it. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function header(report: Report, scenarios: readonly ScenarioReport[]): Markup {
  const isBroken = scenarios.some(({ broken }) => broken.length > 0);
  const outcome = isBroken ? "bad" : report.verdicts.length > 0 ? "good" : "none";
  return markup`<header>
<h1>${report.title}</h1>
<p class="outcome ${outcome}">${outcomeSentence(scenarios)}</p>
${report.numbers.length === 0 ? "" : numbers(report)}
</header>`;
}

function numbers(report: Report): Markup {
  const pairs = report.numbers.map(
    ({ name, value }) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>\n`,
  );
  return markup`<dl class="numbers" aria-label="the numbers that the run is judged by">\n${pairs}</dl>`;
}

function legend(timelines: readonly Timeline[]): Markup {
  if (timelines.length === 0) return markup``;
  return markup`<details class="legend">
<summary>How to read the timelines</summary>
<div id="legend"></div>
<p class="keys">Point at anything for its details. Zoom with <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd>
or Ctrl and the wheel; drag or scroll to move. <kbd>Tab</kbd> reaches the bars,
<kbd>&larr;</kbd> <kbd>&rarr;</kbd> go from one to the next.</p>
</details>`;
}

function section(
  scenario: ScenarioReport,
  timelines: readonly Timeline[],
  isOnly: boolean,
): Markup {
  const { name, verdicts, broken } = scenario;
  const state = broken.length > 0 ? "broken" : verdicts.length > 0 ? "held" : "unjudged";
  const badge = { broken: "✗ BROKEN", held: "✓ held", unjudged: "not judged" }[state];
  const charts = scenario.timelines.map(
    (timeline) =>
      markup`<div class="chart" data-timeline="${timelines.indexOf(timeline)}">
<noscript>The timeline needs the script of this page.</noscript></div>\n`,
  );
  return markup`<details class="scenario ${state}"${state === "broken" || isOnly ? new Markup(" open") : ""}>
<summary><span class="badge ${state}">${badge}</span> <span class="name">${name}</span>
<span class="facts">${facts(scenario)}</span></summary>
<div class="inside">
${broken.length === 0 ? "" : brokenPromises(broken)}
${charts}
${verdicts.length === 0 ? "" : promises(verdicts)}
</div>
</details>\n`;
}

function facts({ verdicts, broken, timelines }: ScenarioReport): string {
  const sum = (count: (timeline: Timeline) => number) =>
    timelines.reduce((total, timeline) => total + count(timeline), 0);
  const parts: string[] = [];
  if (verdicts.length > 0)
    parts.push(`${verdicts.length - broken.length} of ${verdicts.length} promises held`);
  if (timelines.length > 0) {
    parts.push(
      counted(
        sum(({ workers }) => workers.length),
        "worker",
      ),
      counted(
        sum(({ leases }) => leases.length),
        "lease",
      ),
      `${(sum(({ endMs }) => endMs) / 1_000).toFixed(1)} s`,
    );
  }
  // A number stays on the line of its noun.
  return parts.map((part) => part.replaceAll(" ", "\u00a0")).join(" · ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function brokenPromises(broken: readonly VerdictRow[]): Markup {
  const items = broken.map(
    ({ promise, seen, bound }) =>
      markup`<li><b>Broken:</b> ${promise}<br>seen: ${seen}${bound === undefined ? "" : `; bound: ${bound}`}</li>\n`,
  );
  return markup`<ul class="broken-promises">\n${items}</ul>`;
}

function promises(verdicts: readonly VerdictRow[]): Markup {
  const rows = verdicts.map(({ promise, held, seen, bound }) => {
    const state = held ? "held" : "broken";
    return markup`<tr><td class="verdict ${state}">${held ? "✓ held" : "✗ BROKEN"}</td>
<th scope="row">${promise}</th><td class="seen">${seen}</td><td class="bound">${bound ?? ""}</td></tr>\n`;
  });
  return markup`<table>
<thead><tr><th>verdict</th><th>promise</th><th>seen</th><th>bound</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}
