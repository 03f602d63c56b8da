/** The meter and the countdown in Chromium: rendered by a server, under a strict policy, translated. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { problemsOf } from "../support/problems.js";
import { translatePage } from "../support/translate.js";
import { startRenderedServer } from "./rendered-server.js";
import { openBrowser } from "./shared.js";

let browser: Browser;
let app: Awaited<ReturnType<typeof startRenderedServer>>;
beforeAll(async () => {
  [browser, app] = await Promise.all([openBrowser(), startRenderedServer()]);
});
afterAll(async () => {
  await browser.close();
  await app[Symbol.asyncDispose]();
});

/** The page with this query, and what it logs. The bucket of `few` is full. */
async function open(query: string, options?: Parameters<Browser["newContext"]>[0]) {
  await app.limiter.reset("few");
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = problemsOf(page);
  await page.goto(`${app.url}/?${query}`);
  if (!query.includes("still"))
    await page.locator("#trpc-rate-limit-announcer").waitFor({ state: "attached" });
  return {
    page,
    problems,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

const meter = (page: Page, label = "Half") => page.getByRole("meter", { name: label });

/** The parts of the meter as they are drawn, in pixels of the screen, and their colours. */
function drawn(page: Page, label = "Half") {
  return meter(page, label).evaluate((element) => {
    const [track, fill] = [...element.querySelectorAll("rect")].map((rect) => {
      const { left, right, width, height } = rect.getBoundingClientRect();
      return { left, right, width, height, color: getComputedStyle(rect).fill };
    });
    return { track: track!, fill: fill! };
  });
}

describe("the meter under style-src 'self'", () => {
  it.each([
    ["as the server has rendered it", "still", 8],
    ["as the server has rendered it, without the stylesheet", "still&plain", 8],
    ["after hydration", "", 8],
    ["after hydration, without the stylesheet", "plain", 8],
  ])("has its height and half of its width, %s", async (_, query, height) => {
    await using visitor = await open(query);
    const { track, fill } = await drawn(visitor.page);
    expect(track).toMatchObject({ width: 400, height });
    expect(fill).toMatchObject({ width: 200, height, left: track.left });
    expect(await meter(visitor.page).getAttribute("aria-valuetext")).toBe("2 of 4");
    expect(visitor.problems).toEqual([]);
  });

  it.each([
    ["as the server has rendered it", "still&rtl"],
    ["after hydration", "rtl"],
  ])("begins on the right where the text does, %s", async (_, query) => {
    await using visitor = await open(query);
    const { track, fill } = await drawn(visitor.page);
    expect(fill).toMatchObject({ width: 200, right: track.right });
  });

  it("has other colours where the page is dark", async () => {
    await using light = await open("still");
    await using dark = await open("still&dark");
    const [day, night] = [await drawn(light.page), await drawn(dark.page)];
    expect(day.fill.color).toBe("rgb(37, 99, 235)");
    expect(night.fill.color).toBe("rgb(96, 165, 250)");
    expect(night.track.color).not.toBe(day.track.color);
  });

  it("has the colours of the system where those are forced", async () => {
    await using visitor = await open("", { forcedColors: "active" });
    const { track, fill } = await drawn(visitor.page);
    const system = await visitor.page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement("i"));
      return ["Canvas", "Highlight", "CanvasText"].map((name) => {
        probe.style.color = name;
        return getComputedStyle(probe).color;
      });
    });
    expect([track.color, fill.color]).toEqual(system.slice(0, 2));
    const border = await meter(visitor.page).evaluate((each) => getComputedStyle(each).borderColor);
    expect(border).toBe(system[2]);
    expect(fill.width).toBeCloseTo(199, 0);
  });

  it("moves in time with the refill, by an animation of its own", async () => {
    await using visitor = await open("");
    const { page } = visitor;
    await page.locator("#send").click();
    await page.locator("#send").click();
    const widths: number[] = [];
    for (let i = 0; i < 4; i++) {
      const { track, fill } = await drawn(page, "Few");
      widths.push(fill.right - track.left);
      await page.waitForTimeout(300);
    }
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
    expect(new Set(widths).size).toBe(4);
    // The meter is not full yet.
    expect(widths.at(-1)).toBeLessThan(400);
    expect(visitor.problems).toEqual([]);
  });
});

describe("a countdown that a server has rendered", () => {
  it.each([
    ["Asia/Tokyo", "", /^1d [56]h$/, "en"],
    ["America/Los_Angeles", "german", /^noch 1 T\D+[56]/, "de"],
  ])(
    "has no clock, and in %s that of the visitor, without a word on hydration (%s)",
    async (timezoneId, query, rendered, locale) => {
      const html = await (await fetch(`${app.url}/?${query}`)).text();
      const text = /class="long"[^>]*>([^<]*)</.exec(html)?.[1];
      expect(text).toMatch(rendered);
      await using visitor = await open(query, { timezoneId, locale: "fr-FR" });
      const { page, problems } = visitor;
      const { retryAfter } = await app.limiter.check("daily");
      const end = new Date(Math.round((Date.now() + retryAfter!) / 60_000) * 60_000);
      const format = (options: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat(locale, { ...options, timeZone: timezoneId }).format(end);
      const clock = format({ timeStyle: "short" });
      const day = format({ weekday: "long" });
      const shown = locale === "de" ? `${day} um ${clock}` : `at ${clock} on ${day}`;
      await expect.poll(() => page.locator(".long").textContent()).toBe(shown);
      expect(await page.locator("#trpc-rate-limit-announcer").textContent()).toBe(
        locale === "de" ? `Weiter geht es ${day} um ${clock}` : `Wait until ${clock} on ${day}`,
      );
      expect(problems).toEqual([]);
    },
  );

  it("says what Intl.DurationFormat says, in any language", async () => {
    await using visitor = await open("");
    const wrong = await visitor.page.evaluate(() => {
      type Duration = Record<string, number>;
      const { wordsOf, Intl } = globalThis as unknown as {
        wordsOf: (own: object, above: object) => (seconds: number) => string;
        Intl: {
          DurationFormat: new (
            locale: string,
            options: object,
          ) => { format(duration: Duration): string };
        };
      };
      const waits: [seconds: number, duration: Duration][] = [
        [5, { seconds: 5 }],
        [125, { minutes: 2, seconds: 5 }],
        [3720, { hours: 1, minutes: 2 }],
        [829_560, { days: 9, hours: 14 }],
      ];
      const locales = "en de fr es pt it nl pl ru uk tr ar he fa hi ja ko zh th vi sv fi cs el id";
      return locales.split(" ").flatMap((locale) =>
        waits.flatMap(([seconds, duration]) => {
          const said = wordsOf({ locale }, {})(seconds);
          const wanted = new Intl.DurationFormat(locale, { style: "narrow" }).format(duration);
          return said === wanted ? [] : [`${locale}: ${said}, not ${wanted}`];
        }),
      );
    });
    expect(wrong).toEqual([]);
  });
});

describe("a page that the browser translates", () => {
  it("starts a wait, ticks, and ends it, in elements of their own", async () => {
    await using visitor = await open("");
    const { page, problems } = visitor;
    const text = () => page.locator("#send").textContent();
    await page.evaluate(translatePage);
    expect(await page.locator("#send font font").count()).toBe(1);
    await page.locator("#send").click();
    await expect.poll(text).toBe("Send (1 left)");
    await page.locator("#send").click();
    await expect.poll(text).toBe("Wait 2s");
    expect(await page.locator("#between").textContent()).toBe("Next: 2s!");
    expect(await page.locator("#send .badge[data-state=waiting] font font").count()).toBe(1);
    await expect.poll(text).toBe("Wait 1s");
    await expect.poll(text).toBe("Send (1 left)");
    expect(await page.locator("#between").textContent()).toBe("Next: !");
    // The same once more.
    await page.locator("#send").click();
    await expect.poll(text).toMatch(/^Wait [12]s$/);
    expect(problems).toEqual([]);
  });

  it("loses a text that goes beside a countdown: the translation here does what browsers do", async () => {
    await using visitor = await open("bare");
    const { page } = visitor;
    await page.locator("#send").click();
    await page.locator("#send").click();
    await expect.poll(() => page.locator("#bare").textContent()).toMatch(/^Wait \ds$/);
    await page.evaluate(translatePage);
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toBe("NotFoundError");
  });
});

it.each(["", "dark", "rtl"])("has nothing that axe finds, %s", async (query) => {
  await using visitor = await open(query);
  expect(await violationsOf(visitor.page)).toEqual([]);
});
