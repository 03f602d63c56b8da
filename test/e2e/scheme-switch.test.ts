/** The switch between light and dark in the demo's header. The tests of the site test its own switch. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { problemsOf } from "../support/problems.js";
import { demo, openBrowser } from "./shared.js";

const LIGHT = "rgb(245, 244, 248)";
const DARK = "rgb(18, 17, 23)";
/** VitePress keeps the choice under this key, too. */
const KEY = "vitepress-theme-appearance";

let browser: Browser;
let visitor: BrowserContext | undefined;

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(() => visitor?.close());
afterAll(() => browser.close());

async function openPage(part: string, options?: Parameters<Browser["newContext"]>[0]) {
  visitor = await browser.newContext({ colorScheme: "light", ...options });
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.goto(`${demo.url}/#${part}`);
  await page.locator(".connection[data-state=live]").waitFor();
  return Object.assign(page, { problems });
}

const theSwitch = (page: Page, checked: boolean) =>
  page.getByRole("switch", { name: "Dark theme", exact: true, checked });
const colourOf = (page: Page) =>
  page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
const keptBy = (page: Page) => page.evaluate((key) => localStorage.getItem(key), KEY);

it("is pressed by keyboard, keeps the choice, and follows the system again where it is the same", async () => {
  const page = await openPage("chat");
  const system = theSwitch(page, false).and(page.getByTitle("As the system"));
  const chosen = theSwitch(page, true).and(page.getByTitle("Chosen here"));
  await system.press("Space");
  await chosen.waitFor();
  expect([await colourOf(page), await keptBy(page)]).toEqual([DARK, "dark"]);
  await page.reload();
  await page.locator(".connection[data-state=live]").waitFor();
  await chosen.press("Enter");
  await system.waitFor();
  expect([await colourOf(page), await keptBy(page)]).toEqual([LIGHT, "auto"]);
  await page.emulateMedia({ colorScheme: "dark" });
  await theSwitch(page, true).and(page.getByTitle("As the system")).waitFor();
  expect(await colourOf(page)).toBe(DARK);
  expect(page.problems).toEqual([]);
});

it("has an edge, and shows what is chosen, in the colours of the system", async () => {
  const page = await openPage("chat", { forcedColors: "active" });
  const icon = page.locator("scheme-switch svg");
  const look = () =>
    icon.evaluate((each) => {
      const { backgroundColor, borderTopWidth, color } = getComputedStyle(each);
      return { backgroundColor, borderTopWidth, isVisible: color !== backgroundColor };
    });
  const before = await look();
  expect(before).toMatchObject({ borderTopWidth: "1px", isVisible: true });
  await theSwitch(page, false).click();
  await theSwitch(page, true).waitFor();
  const after = await look();
  expect(after).toMatchObject({ borderTopWidth: "1px", isVisible: true });
  expect(after.backgroundColor).not.toBe(before.backgroundColor);
});

it("has the chosen colours before a script of the page has come", async () => {
  const page = await openPage("overview");
  await theSwitch(page, false).click();
  await theSwitch(page, true).waitFor();
  await page.route(/\/assets\/.*\.js$/, () => {});
  await page.reload({ waitUntil: "commit" });
  await page.getByText("Loading…").waitFor();
  // The styles of the part may still be loading.
  await expect.poll(() => colourOf(page)).toBe(DARK);
});

it("changes the colours of other tabs and of the frames of a page", async () => {
  const page = await openPage("side-by-side");
  const frames = ["1", "2"].map((seat) =>
    page.frameLocator(`iframe[src*="seat=${seat}"]`).locator("html"),
  );
  await Promise.all(frames.map((root) => root.getByRole("heading", { name: "Chat" }).waitFor()));
  const other = await page.context().newPage();
  await other.goto(demo.url);
  await theSwitch(other, false).click();
  await theSwitch(page, true).waitFor();
  for (const root of frames) {
    const colour = () => root.evaluate((element) => getComputedStyle(element).backgroundColor);
    await expect.poll(colour).toBe(DARK);
  }
  expect(page.problems).toEqual([]);
});

it.each([390, 320])("has room beside the name and the longest part, %i px wide", async (wide) => {
  const page = await openPage("model", { viewport: { width: wide, height: 640 } });
  await theSwitch(page, false).waitFor();
  const brand = page.locator(".brand");
  expect(await brand.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  const { x, width } = (await theSwitch(page, false).boundingBox())!;
  expect({ fits: x + width <= wide, isLarge: width >= 44 }).toEqual({ fits: true, isLarge: true });
});

it("changes the colours of the control room's chart", async () => {
  const page = await openPage("control-room");
  const chart = page.locator(".uplot canvas");
  await chart.waitFor();
  const hasPixels = (colour: string) =>
    chart.evaluate((canvas: HTMLCanvasElement, wanted) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((_, i) => i % 4 === 0 && data.slice(i, i + 4).join() === wanted);
    }, colour);
  // The lines behind the bars have the new colour.
  const line = () =>
    page.locator(".rla-plot").evaluate((host) => {
      const probe = host.appendChild(document.createElement("span"));
      probe.style.color = "var(--rla-line)";
      const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g)!;
      probe.remove();
      return `${r},${g},${b},255`;
    });
  const before = await line();
  await expect.poll(() => hasPixels(before)).toBe(true);
  await theSwitch(page, false).click();
  const after = await line();
  expect(after).not.toBe(before);
  await expect.poll(() => hasPixels(after), { timeout: 1_000 }).toBe(true);
});
