/** The devtools of the example: in development, and in what is built, where they come after the page. */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type Axe from "axe-core";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { violationsOf } from "../support/axe.js";
import { problemsOf } from "../support/problems.js";
import { demo, openBrowser } from "./shared.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

let browser: Browser;
/** The example's page as Vite serves it in development. */
let vite: ViteDevServer;
beforeAll(async () => {
  browser = await openBrowser();
  vite = await createServer({
    configFile: `${ROOT}example-app/vite.config.ts`,
    mode: "development",
    logLevel: "error",
    server: { port: 0, proxy: { "/trpc": demo.url } },
  });
  await vite.listen();
});
afterAll(async () => {
  await browser.close();
  await vite.close();
});

/** The devtools of the example's page in development, in a window of any width. */
async function openPanel({
  part = "overview",
  ...options
}: BrowserContextOptions & { part?: string } = {}) {
  const visitor = await browser.newContext(options);
  onTestFinished(() => visitor.close());
  const page = await visitor.newPage();
  // The page leaves its button out of a narrow window, which has no room for it.
  await page.addInitScript(() => {
    const match = window.matchMedia.bind(window);
    window.matchMedia = (query) => match(query === "(min-width: 75rem)" ? "all" : query);
  });
  const url = vite.resolvedUrls!.local[0]!;
  await page.goto(`${url}#${part}`);
  await page.getByRole("button", { name: "Open TanStack Devtools" }).click();
  const panel = page.getByRole("region", { name: "Rate limits" });
  await panel.getByText("live", { exact: true }).waitFor();
  return { visitor, page, panel, url };
}

it.each(["light", "dark"] as const)(
  "shows in development what the page knows of its limits: %s",
  async (colorScheme) => {
    const { visitor, page, panel, url } = await openPanel({ colorScheme });
    const limit = panel.getByRole("listitem").filter({ hasText: "sendMessage" });
    await limit.getByText("3 of 3").waitFor();
    await limit.getByText("token bucket: 10 per 1 min, holds 3").waitFor();
    for (let i = 0; i < 3; i++) {
      const sent = await visitor.request.post(`${url}trpc/chat.send`, {
        data: { text: "hi", nonce: randomUUID() },
      });
      expect(sent.status()).toBe(200);
    }
    await limit.getByText(/^denied, ok in \d s$/).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}devtools-${colorScheme}.png` });
    await page.addScriptTag({ path: `${ROOT}node_modules/axe-core/axe.min.js` });
    const violations = await panel.evaluate(async (element) => {
      const { axe } = window as unknown as { axe: typeof Axe };
      return (await axe.run(element)).violations.map(({ id, nodes }) => [id, nodes.length]);
    });
    expect(violations).toEqual([]);
  },
);

describe("a panel without much room", () => {
  it("scrolls to the end of four limits by keyboard, in a host that does not scroll", async () => {
    const { page, panel } = await openPanel({
      part: "model",
      viewport: { width: 1280, height: 300 },
    });
    await page.addStyleTag({ content: "[id^=plugin-container] { overflow: hidden !important }" });
    const last = panel.getByText("In flight").last();
    await last.waitFor();
    const isSeen = () =>
      last.evaluate((element) => {
        const { left, bottom } = element.getBoundingClientRect();
        return document.elementFromPoint(left + 1, bottom - 1) === element;
      });
    expect(await isSeen()).toBe(false);
    await panel.focus();
    await page.keyboard.press("End");
    await expect.poll(isSeen).toBe(true);
  });

  it("is no wider than a window of 320 px", async () => {
    const { page, panel } = await openPanel({
      part: "model",
      viewport: { width: 320, height: 640 },
    });
    await panel.getByText("In flight").last().waitFor();
    const widest = await panel.evaluate((element) =>
      Math.max(
        element.scrollWidth - element.clientWidth,
        ...[...element.querySelectorAll("*")].map((one) => one.getBoundingClientRect().right - 320),
      ),
    );
    expect(widest).toBeLessThanOrEqual(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });
});

it.each(["light", "dark"] as const)(
  "shows bars, and whether the page is live, in forced colours: %s",
  async (colorScheme) => {
    const { page, panel } = await openPanel({ colorScheme, forcedColors: "active" });
    const colours = (selector: string, pseudo?: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, name) => getComputedStyle(element, name).backgroundColor, pseudo);
    const canvas = await colours("html");
    const bar = panel.locator(".trl-bar div").first();
    expect((await bar.boundingBox())!.width).toBeGreaterThan(50);
    expect(await colours(".trl-bar div")).not.toBe(canvas);
    expect(await colours(".connection", "::before")).not.toBe(canvas);
  },
);

describe("the demo that is built", () => {
  it("has them after the page, closed, in a file of their own", async () => {
    const visitor = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await visitor.newPage();
    const problems = problemsOf(page);
    let isLoaded = false;
    page.once("load", () => (isLoaded = true));
    const requestedEarly: string[] = [];
    page.on("request", (request) => {
      if (!isLoaded) requestedEarly.push(new URL(request.url()).pathname);
    });
    await page.goto(`${demo.url}/#chat`);
    const button = page.getByRole("button", { name: "Open TanStack Devtools" });
    await button.waitFor();
    for (const path of requestedEarly.filter((name) => name.endsWith(".js"))) {
      const code = await (await fetch(demo.url + path)).text();
      for (const text of ["trl-devtools", "plugin-container"]) expect(code).not.toContain(text);
    }
    // Beside the content.
    const content = (await page.locator("main").boundingBox())!;
    expect((await button.boundingBox())!.x).toBeGreaterThanOrEqual(content.x + content.width);
    expect(await violationsOf(page)).toEqual([]);
    await button.click();
    const panel = page.getByRole("region", { name: "Rate limits" });
    await panel.getByText("live", { exact: true }).waitFor();
    await panel.getByRole("listitem").filter({ hasText: "sendMessage" }).waitFor();
    expect(problems).toEqual([]);

    // A narrow window has no room for the button.
    await page.setViewportSize({ width: 390, height: 844 });
    await button.waitFor({ state: "detached" });
    await visitor.close();
  });
});
