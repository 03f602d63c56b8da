/** The views of the control room in a browser: their addresses, and how calmly they load. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { problemsOf } from "../support/problems.js";
import { demo, openBrowser } from "./shared.js";

/** The sum of all layout shifts that no press has caused. */
const CALM = 0.01;

let browser: Browser;
let contexts: BrowserContext[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
  contexts = [];
});
afterAll(() => browser.close());

async function newOperator(options?: Parameters<Browser["newContext"]>[0]) {
  const context = await browser.newContext(options);
  contexts.push(context);
  await context.request.get(demo.url);
  const data = { isOperator: true };
  await context.request.post(`${demo.url}/trpc/controlRoom.become`, { data });
  return context;
}

async function openRoom(context: BrowserContext, address = "#control-room") {
  const page = await context.newPage();
  const problems = problemsOf(page);
  await page.goto(new URL(address, demo.url).href);
  return Object.assign(page, { problems });
}

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { level: 2, name, exact: true });
const isChosen = (page: Page, label: string) => page.getByLabel(label, { exact: true }).isChecked();

describe("the address of the control room", () => {
  it("shows a colleague the same limit, range, keys, view and key", async () => {
    const page = await openRoom(await newOperator());
    await page.getByRole("tab", { name: /^exports/ }).click();
    await page.getByLabel("All", { exact: true }).check({ force: true });
    await page.getByLabel("Day", { exact: true }).check({ force: true });
    const colleague = await newOperator();
    const same = await openRoom(colleague, page.url());
    await heading(same, "exports").waitFor();
    await same.locator(".uplot canvas").waitFor();
    expect([await isChosen(same, "All"), await isChosen(same, "Day")]).toEqual([true, true]);

    await page.getByRole("link", { name: "Who" }).click();
    // A customer may stand there for each limit.
    await page.getByRole("button", { name: "customer 1", exact: true }).first().click();
    await heading(page, "customer 1").waitFor();
    const key = await openRoom(colleague, page.url());
    await heading(key, "customer 1").waitFor();
    await key.getByRole("button", { name: "Back to Who" }).click();
    await heading(key, "Who").waitFor();
    expect(await isChosen(key, "Day")).toBe(true);
    expect([...page.problems, ...same.problems, ...key.problems]).toEqual([]);
  });

  it("goes with the browser's back and forward, beside the application's own address", async () => {
    const page = await openRoom(await newOperator(), "?mine=a%20b#control-room");
    await page.getByRole("tab", { name: /^exports/ }).click();
    await page.getByRole("link", { name: "Who" }).click();
    const row = page.getByRole("button", { name: "customer 1", exact: true }).first();
    await row.click();
    await heading(page, "customer 1").waitFor();
    await page.goBack();
    await heading(page, "Who").waitFor();
    // The visitor is at the same place again.
    await expect.poll(() => page.locator(":focus").textContent()).toBe("customer 1");
    await page.goBack();
    await heading(page, "exports").waitFor();
    await page.goForward();
    await heading(page, "Who").waitFor();
    expect(page.url()).toBe(`${demo.url}/?mine=a%20b#control-room?rla-view=who`);

    // Another part of the application has no parameters of the room. The way back has them again.
    await page.evaluate(() => {
      location.hash = "#chat";
    });
    await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
    await expect.poll(() => page.url()).toBe(`${demo.url}/?mine=a%20b#chat`);
    await page.goBack();
    await heading(page, "Who").waitFor();
    expect(page.problems).toEqual([]);
  });
});

describe.each([1280, 390])("at %i px", (width) => {
  it.each([
    ["the limits", "", ".uplot canvas"],
    ["the top keys", "?rla-view=who", ".rla-share"],
    [
      "two dates",
      `?rla-limit=apiCalls&rla-range=${Date.now() - 7_200_000}-${Date.now()}`,
      ".uplot",
    ],
    ["a key", "?rla-limit=apiCalls&rla-key=typed:customer+1", ".rla-key-card"],
  ])("%s load without a jump", async (_, search, there) => {
    const context = await newOperator({ viewport: { width, height: 900 } });
    await context.addInitScript(() => {
      const shifts: [number, string][] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as LayoutShift[]) {
          if (entry.hadRecentInput) continue;
          const what = entry.sources.map(({ node }) => (node as Element | null)?.className);
          shifts.push([entry.value, what.join(", ")]);
        }
      }).observe({ type: "layout-shift", buffered: true });
    });
    const page = await openRoom(context, `#control-room${search}`);
    await page.locator(there).first().waitFor({ timeout: 30_000 });
    // An answer of each kind has come again by now, and the next one changes nothing either.
    await page.waitForLoadState("networkidle").catch(() => {});
    await page.waitForResponse(/rateLimitAdmin/);
    const shifts = await page.evaluate(
      () => (globalThis as unknown as { shifts: [number, string][] }).shifts,
    );
    const sum = shifts.reduce((total, [value]) => total + value, 0);
    console.log(`layout shifts of ${search || "the limits"} at ${width} px: ${sum.toFixed(4)}`);
    expect([sum <= CALM, shifts]).toEqual([true, shifts]);
    expect(page.problems).toEqual([]);
  });
});

/** An entry of a layout shift, which TypeScript's own types do not have. */
interface LayoutShift extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  sources: readonly { node: Node | null }[];
}
