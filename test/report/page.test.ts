/**
 * The report's page in a real browser; asked for by `npm run report-page`, which needs Chromium
 * (`CHROMIUM` names it where it is not `/usr/bin/chromium`).
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { htmlReport, type Report } from "@leasehold/drill";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { rollingDeploy, sampleReport } from "./sample-report.ts";

const isAsked = process.env["REPORT_PAGE"] === "1";
/** Pages and pictures stay here, to be looked at. */
const folder = join(import.meta.dirname, "../../.leasehold/report-page");
const KILLED = "SIGKILL while releasing";
const ROLLING = "rolling deploy of three workers under load";

describe.runIf(isAsked)("the report's page in Chromium", () => {
  let browser: Browser;
  const faults: string[] = [];

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    const isRoot = process.getuid?.() === 0;
    browser = await chromium.launch({
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: isRoot ? ["--no-sandbox"] : [],
    });
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(faults.splice(0)).toEqual([]);
  });

  async function setup(
    options: { width?: number; colorScheme?: "light" | "dark"; report?: Report } = {},
  ) {
    const file = join(folder, "report.html");
    writeFileSync(file, htmlReport(options.report ?? sampleReport()));
    const { width = 1280, colorScheme = "light" } = options;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => faults.push(message.text()));
    page.on("request", (request) => {
      if (request.url() !== pathToFileURL(file).href) faults.push(`asked for ${request.url()}`);
    });
    await page.goto(pathToFileURL(file).href);
    return page;
  }

  function scenario(page: Page, name: string) {
    const whole = page
      .locator("details.scenario")
      .filter({ has: page.getByText(name, { exact: true }) });
    return {
      whole,
      open: () => whole.locator("summary").click(),
      bars: whole.locator("g.lease"),
      bar: (job: string) => whole.locator(`g.lease[data-job="${job}"]`),
      lane: (worker: string) => whole.locator(`svg[aria-label="${worker}"]`),
      job: whole.getByRole("searchbox", { name: "Job" }),
      tip: whole.locator(".tip"),
      /** A fact of the box of details; undefined where it does not say it. */
      told: async (name: string) => {
        const pairs = whole.locator(".tip dl");
        const names = await pairs.locator("dt").allTextContents();
        const values = await pairs.locator("dd").allTextContents();
        return values[names.indexOf(name)];
      },
      count: whole.locator("output.count"),
    };
  }

  test("opens the broken scenario first, its promise on top, and draws others when asked", async () => {
    const page = await setup();
    const first = page.locator("details.scenario").first();

    expect(await page.locator("details.scenario[open] .name").allTextContents()).toEqual([KILLED]);
    expect(await first.locator(".name").textContent()).toBe(KILLED);
    expect(await first.locator(".inside > :first-child").textContent()).toContain(
      "Broken: no effect happens twice",
    );
    const rolling = scenario(page, ROLLING);
    expect(await rolling.bars.count()).toBe(0);
    await rolling.open();
    await rolling.bars.first().waitFor();
    expect(await rolling.bars.count()).toBe(rollingDeploy().leases.length);
  });

  test("draws each lease where and as long as it was held, with its ending by letter too", async () => {
    const page = await setup();
    const { lane, bars, bar } = scenario(page, KILLED);

    expect(await bars.count()).toBe(11);
    expect(await lane("first").locator("g.lease").count()).toBe(6);
    expect(await lane("second").locator("g.lease").count()).toBe(5);
    const parts = [
      await box(bar("pay-1").locator(".hit")),
      await box(bar("pay-3").first().locator(".hit")),
    ];
    // 500 to 2,300 ms and 700 to 7,700 ms of one run.
    expect((parts[1]?.width ?? 0) / (parts[0]?.width ?? 1)).toBeCloseTo(7_000 / 1_800, 1);
    const letters = await bars.locator(".letter").allTextContents();
    expect(letters.sort().join("")).toBe("AAADELOPRXY");
    const overlaps = await overlappingBars(page);
    expect(overlaps).toEqual([]);
  });

  test("shows extensions, phases, lines and effects", async () => {
    const page = await setup();
    const { lane, whole } = scenario(page, KILLED);
    const first = lane("first");

    expect(await first.locator('g[data-job="pay-2"] .tick').getAttribute("d")).toMatch(
      /^(?:M[\d. ]+v9){3}$/,
    );
    expect(await first.locator(".band").count()).toBe(3);
    expect(await first.locator(".label-phase").allTextContents()).toEqual([
      "draining",
      "aborting",
      "releasing",
    ]);
    expect(await first.locator(".moment-signal").count()).toBe(2);
    expect(await first.locator(".label-signal").allTextContents()).toEqual(["SIGTERM", "SIGKILL"]);
    expect(await first.locator(".moment-deadline").count()).toBe(1);
    expect(await first.locator(".moment-fault").count()).toBe(2);
    expect(await whole.locator(".axis .label").allTextContents()).toEqual([
      "provider answers 503 for 2 s",
    ]);
    expect(await whole.locator(".mark").count()).toBe(12);
    expect(await lane("seen elsewhere").locator(".mark-applied").count()).toBe(1);
  });

  test("tells all about what the pointer is on, and shows the same job elsewhere", async () => {
    const page = await setup();
    const { bar, tip, told, lane, whole } = scenario(page, KILLED);

    expect(await tip.isVisible()).toBe(false);
    await bar("pay-2").first().hover();
    expect(await tip.locator("b").textContent()).toBe("pay-2");
    expect(await told("ending")).toBe("cut off (X): its process died");
    expect(await told("tenant")).toBe("cumulus");
    expect(await told("type")).toBe("payment.capture");
    expect(await told("worker")).toBe("first");
    expect(await told("message")).toBe("m-2");
    expect(await told("claimed")).toBe("620 ms (10:05:12.620 UTC)");
    expect(await told("started")).toBe("740 ms (10:05:12.740 UTC), 120 ms after its claim");
    expect(await told("held for")).toBe("7.28 s");
    expect(await told("extended")).toBe("3 times, last at 6.6 s");
    expect(await whole.locator(".lease.same").count()).toBe(2);
    await page.screenshot({ path: join(folder, "hover-light-1280.png") });

    await lane("first").locator(".mark-unknown").hover();
    expect(await tip.locator("b").textContent()).toBe("charge: unknown");
    expect(await told("job")).toBe("pay-5");
    await lane("first").locator(".label-signal").first().hover();
    expect(await tip.locator("b").textContent()).toBe("SIGTERM");
    expect(await told("at")).toBe("5.2 s (10:05:17.200 UTC)");
    await lane("first").locator(".label-phase").first().hover();
    expect(await tip.locator("b").textContent()).toBe("draining");
    expect(await told("took")).toBe("2 s");
    await page.locator("h1").hover();
    expect(await tip.isVisible()).toBe(false);
  });

  test("filters by tenant, job and ending", async () => {
    const page = await setup();
    const rolling = scenario(page, ROLLING);
    await rolling.open();
    const { leases } = rollingDeploy();
    const tenants = rolling.whole.getByLabel("Tenant");

    await tenants.selectOption("<b>evil</b>");
    const evil = leases.filter(({ tenantId }) => tenantId === "<b>evil</b>").length;
    expect(evil).toBeGreaterThan(30);
    expect(await rolling.bars.count()).toBe(evil);
    expect(await rolling.count.textContent()).toBe(`${evil} of ${leases.length} leases`);

    await tenants.selectOption("");
    await rolling.job.fill("INV-1042");
    expect(
      await rolling.bars.evaluateAll((bars) => [
        ...new Set(bars.map((bar) => bar.getAttribute("data-job"))),
      ]),
    ).toEqual(["inv-1042"]);

    await rolling.job.fill("");
    await rolling.whole.getByLabel("Ending").selectOption("released");
    expect(await rolling.bars.count()).toBe(
      leases.filter(({ ending }) => ending === "released").length,
    );
    expect(new Set(await rolling.bars.locator(".letter").allTextContents())).toEqual(
      new Set(["R"]),
    );
  });

  test("takes a tenant's name for text", async () => {
    const page = await setup();
    const { whole, open } = scenario(page, ROLLING);
    await open();

    expect(await whole.locator("option").allTextContents()).toContain("<b>evil</b>");
    await whole.getByLabel("Tenant").selectOption("<b>evil</b>");
    await whole.locator("g.lease").first().hover();
    expect(await whole.locator(".tip dd").allTextContents()).toContain("<b>evil</b>");
    expect(await whole.locator("b", { hasText: "evil" }).count()).toBe(0);
  });

  test("zooms by button, key and wheel, and keeps the moment under the pointer", async () => {
    const page = await setup();
    const { whole, bar } = scenario(page, KILLED);
    const region = whole.getByRole("region");
    const width = () => region.evaluate((element) => element.scrollWidth);
    const fit = await width();

    await whole.getByRole("button", { name: "zoom in" }).click();
    expect((await width()) / fit).toBeCloseTo(1.6, 1);
    await region.focus();
    await page.keyboard.press("+");
    expect((await width()) / fit).toBeCloseTo(2.56, 1);
    await page.keyboard.press("0");
    expect(await width()).toBe(fit);

    const target = bar("pay-6").last();
    const before = await box(target);
    await page.mouse.move(before.x + 2, before.y + 5);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await expect.poll(width).toBeGreaterThan(fit);
    expect(Math.abs((await box(target)).x - before.x)).toBeLessThan(8);

    const left = await region.evaluate((element) => element.scrollLeft);
    await page.mouse.down();
    await page.mouse.move(before.x + 82, before.y + 5);
    await page.mouse.up();
    expect(await region.evaluate((element) => element.scrollLeft)).toBe(left - 80);
  });

  test("is reached by keyboard: Tab to the first bar, arrows from one to the next", async () => {
    const page = await setup();
    const { whole, tip } = scenario(page, KILLED);

    await whole.getByRole("region").focus();
    await page.keyboard.press("Tab");
    expect(await tip.locator("b").textContent()).toBe("pay-1");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await tip.locator("b").textContent()).toBe("pay-3");
    await page.keyboard.press("ArrowLeft");
    expect(await tip.locator("b").textContent()).toBe("pay-2");
    await page.keyboard.press("+");
    expect(await page.evaluate("document.activeElement.dataset.job")).toBe("pay-2");
    await page.keyboard.press("Escape");
    expect(await tip.isVisible()).toBe(false);
  });

  test.for(
    [1280, 390].flatMap((width) =>
      (["light", "dark"] as const).map((scheme) => [width, scheme] as const),
    ),
  )(
    "fits a screen of %i px in %s, and its colours can be told from their ground",
    async ([width, colorScheme]) => {
      const page = await setup({ width, colorScheme });
      await page.screenshot({
        path: join(folder, `closed-${colorScheme}-${width}.png`),
        fullPage: true,
      });
      await page.evaluate(
        "for (const part of document.querySelectorAll('details')) part.open = true",
      );
      await page.locator("g.lease").nth(200).waitFor();
      await page.screenshot({
        path: join(folder, `open-${colorScheme}-${width}.png`),
        fullPage: true,
      });

      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expect(await weakContrasts(page)).toEqual([]);
      const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      expect(ground).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 29)");
    },
  );

  test("draws two thousand leases of one timeline in as many rows as there were slots", async () => {
    const deploy = rollingDeploy(2_000);
    expect(deploy.leases.length).toBeGreaterThanOrEqual(2_000);
    const page = await setup({
      report: { title: "large", numbers: [], verdicts: [], timelines: [deploy] },
    });
    const { bars, lane, whole } = scenario(page, ROLLING);
    await bars.nth(1_999).waitFor({ state: "attached" });

    expect(await bars.count()).toBe(deploy.leases.length);
    for (const worker of ["old-three", "new-one"]) {
      const hits = lane(worker).locator(".hit[y]");
      const rows = await hits.evaluateAll((bars) => bars.map((bar) => bar.getAttribute("y")));
      expect([worker, new Set(rows).size]).toEqual([worker, 4]);
    }
    await page.screenshot({ path: join(folder, "large-light-1280.png") });
    await whole.getByRole("button", { name: "zoom in" }).click();
    expect(await bars.count()).toBe(deploy.leases.length);
  });
});

async function box(locator: ReturnType<Page["locator"]>) {
  const found = await locator.boundingBox();
  if (found === null) throw new Error("the bar is not drawn");
  return found;
}

/** Pairs of bars that lie on each other, by their keys; a bar's short stub of waiting counts. */
async function overlappingBars(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("svg.lane-picture")].flatMap((lane) => {
    const bars = [...lane.querySelectorAll("g.lease")].map((bar) => ({
      key: bar.dataset.key, ...bar.querySelector(".bar, .wait").getBoundingClientRect().toJSON() }));
    return bars.flatMap((one, index) => bars.slice(index + 1)
      .filter((other) => one.left < other.right && other.left < one.right
        && one.top < other.bottom && other.top < one.bottom)
      .map((other) => one.key + " on " + other.key));
  })`);
}

/** Text needs 4.5 to 1 against its ground, a shape 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11). */
async function weakContrasts(page: Page): Promise<string[]> {
  const endings = [
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
  const wanted: [string, string, number][] = [
    ...["ground", "panel", "life", "dead"].flatMap((ground): [string, string, number][] => [
      ["ink", ground, 4.5],
      ["muted", ground, 4.5],
    ]),
    ["good", "ground", 4.5],
    ["bad", "ground", 4.5],
    ["bad", "bad-ground", 4.5],
    ["ink", "bad-ground", 4.5],
    ["on", "bad", 4.5],
    ...endings.flatMap((ending): [string, string, number][] => [
      ["on", ending, 4.5],
      [ending, "life", 3],
      [ending, "dead", 3],
    ]),
  ];
  const colours = await page.evaluate<Record<string, string>>(`Object.fromEntries(
    ${JSON.stringify([...new Set(wanted.flat())])}.map((name) =>
      [name, getComputedStyle(document.documentElement).getPropertyValue("--" + name)]))`);
  return wanted.flatMap(([one, other, least]) => {
    const ratio = contrast(colours[one] ?? "", colours[other] ?? "");
    return ratio >= least ? [] : [`${one} on ${other}: ${ratio.toFixed(2)}, needs ${least}`];
  });
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const channels = [1, 3, 5].map(
    (at) => Number.parseInt(colour.trim().slice(at, at + 2), 16) / 255,
  );
  const [red = 0, green = 0, blue = 0] = channels.map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
