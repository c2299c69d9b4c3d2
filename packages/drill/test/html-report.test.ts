import { createHash } from "node:crypto";
import { htmlReport, type Report, type Timeline, TimelineError } from "@leasehold/drill";
import { describe, expect, test } from "vitest";

const EVIL = `</script><img src=x onerror="alert('R&D')">`;

function timeline(title: string, change: Partial<Timeline> = {}): Timeline {
  return {
    title,
    startedAtMs: 0,
    endMs: 1_000,
    workers: [{ name: EVIL, bootedMs: 0 }],
    leases: [
      {
        worker: EVIL,
        queue: "q",
        messageId: "m-1",
        tenantId: EVIL,
        fromMs: 0,
        toMs: 10,
        ending: "acked",
        extensionsMs: [],
      },
    ],
    phases: [],
    lines: [],
    effects: [],
    ...change,
  };
}

function setup(change: Partial<Report> = {}): Report {
  return {
    title: EVIL,
    numbers: [{ name: EVIL, value: EVIL }],
    verdicts: [
      { scenario: "idle", promise: EVIL, held: true, seen: EVIL, bound: EVIL },
      { scenario: EVIL, promise: "no twin", held: false, seen: "2 at once", bound: "1" },
    ],
    timelines: [timeline("idle"), timeline(EVIL)],
    ...change,
  };
}

function dataOf(page: string): unknown {
  const text = /<script type="application\/json" id="timelines">(.*?)<\/script>/s.exec(page)?.[1];
  return JSON.parse(text ?? "");
}

describe("htmlReport", () => {
  test("lets no name or text become an element", () => {
    const page = htmlReport(setup());

    expect(page).not.toContain("<img");
    expect(page.match(/<script/g)?.length).toBe(2);
    expect(page).toContain(
      "<h1>&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;R&amp;D&#39;)&quot;&gt;</h1>",
    );
  });

  test("hands every timeline to its script as it was", () => {
    expect(dataOf(htmlReport(setup()))).toEqual([timeline("idle"), timeline(EVIL)]);
  });

  test("puts a scenario with a broken promise first and opens it", () => {
    const page = htmlReport(setup());
    const scenarios = page.match(/<details class="scenario [^>]*>/g);

    expect(scenarios).toEqual([
      '<details class="scenario broken" open>',
      '<details class="scenario held">',
    ]);
    expect(page).toContain("<li><b>Broken:</b> no twin<br>seen: 2 at once; bound: 1</li>");
    expect(page.indexOf('data-timeline="1"')).toBeLessThan(page.indexOf('data-timeline="0"'));
  });

  test("opens the only scenario, held or not judged", () => {
    const trace = htmlReport(setup({ verdicts: [], timelines: [timeline("seed 4711")] }));

    expect(trace).toContain('<details class="scenario unjudged" open>');
    expect(trace).toContain("No promise was judged.");
  });

  test("allows its own style and script, and nothing from anywhere else", () => {
    const page = htmlReport(setup());
    const hash = (text: string | undefined) =>
      `'sha256-${createHash("sha256")
        .update(text ?? "")
        .digest("base64")}'`;
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1];
    const script = /<script type="module">(.*?)<\/script>/s.exec(page)?.[1];
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1];

    expect(policy?.replaceAll("&#39;", "'")).toBe(
      `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}`,
    );
    expect(page).not.toMatch(/\b(?:src|href)=(?!x )/);
  });

  test("refuses a timeline that contradicts itself", () => {
    const workers = [{ name: EVIL, bootedMs: 9, exitedMs: 3 }];

    expect(() => htmlReport(setup({ timelines: [timeline("idle", { workers })] }))).toThrow(
      TimelineError,
    );
  });
});
