/** The style of the report's page, in light and dark; every colour stands here once per theme. */

const THEMES = `
:root { color-scheme: light dark;
  --ground: #ffffff; --panel: #f4f6f8; --life: #ffffff; --dead: #e9edf1; --ink: #1b2127;
  --muted: #57616b; --edge: #d3d9df; --grid: #edf0f3; --on: #ffffff; --focus: #0b5fd0;
  --good: #14724f; --bad: #b3261e; --bad-ground: #fdeceb;
  --acked: #14794f; --retried: #8a5a00; --released: #2560c4; --dead-lettered: #8d1747;
  --parked: #6a45b8; --lost: #c0320c; --lapsed: #5c6773; --cut-off: #22272d; --open: #0d7285;
  --draining: #d99a00; --aborting: #d9480f; --releasing: #2f6fd6; --flushing: #7a4fc9; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #14181d; --panel: #1b2127; --life: #181d23; --dead: #262d35; --ink: #e6eaee;
  --muted: #a3adb8; --edge: #38414b; --grid: #232a31; --on: #10141a; --focus: #7db4ff;
  --good: #54cf9b; --bad: #ff8f86; --bad-ground: #3a1d1d;
  --acked: #4cc38f; --retried: #e0ac3c; --released: #7fb0ff; --dead-lettered: #ff86b0;
  --parked: #bfa5ff; --lost: #ff9468; --lapsed: #a9b4c0; --cut-off: #eef1f4; --open: #57c7da;
  --draining: #e8b33a; --aborting: #ff8a5c; --releasing: #7fb0ff; --flushing: #bfa5ff; } }`;

const PAGE = `
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1600px; padding: 20px 24px 48px; background: var(--ground);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 24px; line-height: 1.25; }
h2, h3 { margin: 0; font-size: 13px; font-weight: 600; color: var(--muted); }
p { margin: 4px 0 0; }
.outcome { font-size: 17px; } .outcome.good { color: var(--good); } .outcome.bad { color: var(--bad); }
.numbers { display: flex; flex-wrap: wrap; gap: 6px 28px; margin: 14px 0 0; padding: 10px 14px;
  background: var(--panel); border-radius: 6px; }
.numbers div { display: flex; flex-direction: column; }
dt { color: var(--muted); font-size: 13px; } dd { margin: 0; }
.numbers dd { font-variant-numeric: tabular-nums; font-weight: 600; }
details { margin-top: 12px; border: 1px solid var(--edge); border-radius: 8px; }
summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; padding: 9px 14px;
  cursor: pointer; list-style: none; border-radius: 8px; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "\\25b8"; color: var(--muted); width: 12px; }
[open] > summary::before { content: "\\25be"; }
summary:hover { background: var(--panel); }
summary .name { font-weight: 600; }
summary .facts { color: var(--muted); font-size: 13px; margin-left: auto; }
.badge { font-size: 12px; font-weight: 700; padding: 0 8px; border-radius: 99px; border: 1px solid; }
.badge.held { color: var(--good); } .badge.unjudged { color: var(--muted); }
.badge.broken { color: var(--on); background: var(--bad); border-color: var(--bad); }
details.broken { border-color: var(--bad); }
.inside { padding: 2px 14px 14px; }
.broken-promises { margin: 4px 0 12px; padding: 8px 14px; list-style: none; color: var(--ink);
  background: var(--bad-ground); border-left: 4px solid var(--bad); border-radius: 4px; }
.broken-promises li + li { margin-top: 6px; }
.broken-promises b { color: var(--bad); }
table { width: 100%; margin-top: 12px; border-collapse: collapse; font-size: 14px; }
caption { text-align: left; color: var(--muted); font-size: 13px; font-weight: 600; }
th, td { padding: 5px 12px 5px 0; text-align: left; vertical-align: top;
  border-top: 1px solid var(--edge); }
thead th { color: var(--muted); font-size: 13px; border-top: 0; }
tbody th { font-weight: 400; } td.verdict { white-space: nowrap; font-weight: 600; }
td.held { color: var(--good); } td.broken { color: var(--bad); }
.legend { margin-top: 14px; } .legend summary { font-weight: 600; font-size: 14px; }
#legend { display: grid; gap: 14px 28px; padding: 4px 14px 14px;
  grid-template-columns: 1.5fr 1.2fr 1fr 1fr; }
#legend ul { margin: 6px 0 0; padding: 0; list-style: none; }
#legend li { display: flex; gap: 8px; align-items: flex-start; font-size: 13px; }
#legend svg { flex: none; margin-top: 2px; }
.keys { padding: 0 14px 12px; color: var(--muted); font-size: 13px; }
kbd { padding: 0 4px; border: 1px solid var(--edge); border-radius: 4px; font: inherit; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
@media (max-width: 900px) { #legend { grid-template-columns: 1fr 1fr; } }
@media (max-width: 560px) { body { padding: 14px 12px 32px; } h1 { font-size: 20px; }
  #legend { grid-template-columns: 1fr; } summary { display: block; } summary::before { display: inline-block; }
  summary .facts { display: block; margin: 2px 0 0 14px; }
  .inside { padding: 2px 10px 10px; }
  thead { display: none; } tr { display: grid; grid-template-columns: auto 1fr; gap: 0 10px;
    border-top: 1px solid var(--edge); padding: 6px 0; }
  tbody th, td { border: 0; padding: 0; } td.verdict { grid-row: 1; } tbody th { grid-row: 1; }
  td.seen, td.bound { grid-column: 1 / -1; color: var(--muted); }
  td.bound:not(:empty)::before { content: "bound: "; } }`;

const TOOLS = `
.chart { position: relative; margin-top: 4px; }
.tools { display: flex; flex-wrap: wrap; align-items: end; gap: 8px 12px; margin: 6px 0 8px; }
.tools label { display: flex; flex-direction: column; font-size: 12px; color: var(--muted); }
select, input, button { font: inherit; font-size: 14px; color: var(--ink);
  background: var(--ground); border: 1px solid var(--muted); border-radius: 5px; padding: 3px 8px;
  min-height: 32px; }
select { max-width: 220px; } button { cursor: pointer; min-width: 36px; }
button:hover { background: var(--panel); }
.count { color: var(--muted); font-size: 13px; padding: 6px 0; font-variant-numeric: tabular-nums; }
.zoom { margin-left: auto; display: flex; gap: 4px; }
.box { overflow: auto; max-height: 78vh; border: 1px solid var(--edge); border-radius: 6px;
  background: var(--dead); overscroll-behavior-x: contain; }
.box.dragged { cursor: grabbing; user-select: none; }
.tip { position: fixed; z-index: 9; max-width: min(380px, calc(100vw - 16px)); padding: 8px 12px;
  background: var(--ground); border: 1px solid var(--muted); border-radius: 6px; font-size: 13px;
  box-shadow: 0 4px 16px rgb(0 0 0 / 28%); pointer-events: none; }
.tip dl { display: grid; grid-template-columns: auto 1fr; gap: 0 12px; margin: 4px 0 0; }
.tip dd { font-variant-numeric: tabular-nums; }
@media (max-width: 560px) { .tools label { flex: 1 1 40%; } .tools select, .tools input {
  width: 100%; max-width: none; } }`;

const CHART = `
.patterns { position: absolute; width: 0; height: 0; }
svg { display: block; font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
.axis { position: sticky; top: 0; z-index: 3; border-bottom: 1px solid var(--edge); }
.axis-ground { fill: var(--panel); } .axis-tick path { stroke: var(--muted); }
.axis-tick text { fill: var(--muted); } .grid { stroke: var(--grid); }
.lane + .lane { border-top: 1px solid var(--edge); }
.lane { background: var(--dead); }
.lane-head { background: var(--panel); padding: 2px 8px; font-size: 13px; color: var(--muted); }
.lane-head > span { position: sticky; left: 8px; display: inline-block; } .lane-head b { color: var(--ink); }
.lane-picture { overflow: hidden; } .life { fill: var(--life); }
.exit { stroke: var(--muted); stroke-width: 2; }
.band rect { fill: var(--band); opacity: .17; } .band path { stroke: var(--band); stroke-width: 1.5; }
.band { --band: var(--muted); } .band-draining { --band: var(--draining); }
.band-aborting { --band: var(--aborting); } .band-releasing { --band: var(--releasing); }
.band-flushing { --band: var(--flushing); } .legend-band { fill: var(--draining); opacity: .3; }
.hit { fill: transparent; stroke: none; }
.moment .stem { stroke: var(--moment); stroke-width: 1.5; fill: none; }
.moment-signal, .head-signal { --moment: var(--bad); } .moment-signal .stem { stroke-width: 2; }
.moment-deadline, .head-deadline { --moment: var(--ink); }
.moment-deadline .stem { stroke-dasharray: 6 4; }
.moment-fault, .head-fault { --moment: var(--retried); } .moment-fault .stem { stroke-dasharray: 2 3; }
.moment-note, .head-note { --moment: var(--muted); } .moment-note .stem { stroke-width: 1; }
.head { fill: var(--moment); stroke: var(--life); paint-order: stroke; stroke-width: 2; }
.label text { paint-order: stroke; stroke: var(--life); stroke-width: 4px; stroke-linejoin: round; }
.axis .label text { stroke: var(--panel); } .stray text { fill: var(--muted); }
.label-phase text { font-style: italic; } .label-signal text { font-weight: 700; }
.lease { --ending: var(--ink); } .lease .tick { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.lease .wait { fill: var(--ending); opacity: .55; }
.lease .bar { fill: var(--ending); }
pattern .stroke { stroke: var(--on); stroke-width: 1.4; fill: none; opacity: .75; }
.letter text { fill: var(--on); font-weight: 700; font-size: 10px; }
.mark { fill: var(--ink); stroke: var(--life); stroke-width: 2; paint-order: stroke; }
.mark-started { fill: var(--life); stroke: var(--ink); stroke-width: 1.5; }
.mark-applied { fill: var(--released); } .mark-done { fill: var(--acked); }
.mark-unknown { fill: var(--lost); } .mark-parked { fill: var(--parked); }
.mark-rejected { fill: none; stroke: var(--dead-lettered); stroke-width: 2.5; }
.pointed .lease { opacity: .35; } .pointed .lease.same { opacity: 1; }
.lease:focus { outline: none; } .lease:focus-visible .hit { stroke: var(--focus); stroke-width: 2; }
.lease.same .bar, .lease.same .wait { stroke: var(--ink); stroke-width: 1.5; }`;

const ENDINGS = [
  "acked",
  "retried",
  "released",
  "dead-lettered",
  "parked",
  "lost",
  "lapsed",
  "cut-off",
  "open",
];

/** The style sheet of the page. */
export function pageStyle(): string {
  const endings = ENDINGS.map(
    (ending) => `.ending-${ending} { --ending: var(--${ending}); }
.letter-${ending} rect, .ground-${ending} { fill: var(--${ending}); }`,
  );
  const patterned = ENDINGS.filter((ending) => ending !== "acked" && ending !== "open").map(
    (ending) => `.ending-${ending} .bar { fill: url(#pattern-${ending}); }`,
  );
  const open =
    ".ending-open .bar { fill: var(--life); stroke: var(--ending); stroke-width: 2; stroke-dasharray: 4 2; }";
  return [THEMES, PAGE, TOOLS, CHART, ...endings, ...patterned, open].join("\n");
}
