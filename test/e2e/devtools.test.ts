/** The devtools of the example: in development, and in the built page, where they load after the page. */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type Axe from "axe-core";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { violationsOf } from "../support/axe.js";
import { byNight } from "../support/nightly.js";
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
  // In a narrow window, the page leaves out the button of the devtools, because it has no room for the
  // button.
  await page.addInitScript(() => {
    const match = window.matchMedia.bind(window);
    window.matchMedia = (query) => match(query === "(min-width: 75rem)" ? "all" : query);
  });
  const url = vite.resolvedUrls!.local[0]!;
  await page.goto(`${url}#${part}`);
  await page.getByRole("button", { name: "Open TanStack Devtools" }).click();
  const panel = page.getByRole("region", { name: "Rate limits" });
  await panel.getByText("live", { exact: true }).waitFor();
  await isStill(panel);
  return { visitor, page, panel, url };
}

/** Waits until the window of TanStack's devtools has slid in. */
async function isStill(panel: Locator): Promise<void> {
  let before: unknown;
  await expect
    .poll(async () => {
      const last = before;
      before = await panel.boundingBox();
      return last !== undefined && JSON.stringify(last) === JSON.stringify(before);
    })
    .toBe(true);
}

/** The line of a limit, with its details. */
function limitOf(panel: Locator, name: string): Locator {
  return panel
    .getByRole("list", { name: "Limits" })
    .getByRole("listitem")
    .filter({ has: panel.page().getByRole("button", { name, exact: true }) });
}

/** Shows the details of a limit. */
async function openLine(limit: Locator): Promise<void> {
  await limit.getByRole("button", { expanded: false }).click();
}

/** The barriers that axe finds in the panel. TanStack's own window around the panel is not checked. */
async function violationsIn(page: Page, panel: Locator): Promise<[string, number][]> {
  await page.addScriptTag({ path: `${ROOT}node_modules/axe-core/axe.min.js` });
  return panel.evaluate(async (element) => {
    const { axe } = window as unknown as { axe: typeof Axe };
    const { violations } = await axe.run(element);
    return violations.map(({ id, nodes }): [string, number] => [id, nodes.length]);
  });
}

it.each(["light", "dark"] as const)(
  "shows in development what the page knows of its limits: %s",
  async (colorScheme) => {
    const { visitor, page, panel, url } = await openPanel({ colorScheme });
    const limit = limitOf(panel, "sendMessage");
    await limit.getByText("3 of 3").waitFor();
    await openLine(limit);
    await limit.getByText("token bucket: 10 per minute, holds up to 3").waitFor();
    // All calls at once, so that no token comes back meanwhile.
    const sent = await Promise.all(
      Array.from({ length: 3 }, () =>
        visitor.request.post(`${url}trpc/chat.send`, { data: { text: "hi", nonce: randomUUID() } }),
      ),
    );
    expect(sent.map((each) => each.status())).toEqual([200, 200, 200]);
    await limit.getByText(/^denied \(\d s\)$/).waitFor();
    await limit.getByText(/^A call of 1 token would be denied \(\d s\)$/).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}devtools-${colorScheme}.png` });
    expect(await violationsIn(page, panel)).toEqual([]);
  },
);

/** Whether the middle of an element can be seen. */
function isSeen(element: Locator): Promise<boolean> {
  return element.evaluate((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return one.contains(there);
  });
}

describe("the timeline", () => {
  it("is beside the limits, at the top, and stays there while the limits scroll", async () => {
    const { panel } = await openPanel({ part: "model" });
    const limits = panel.getByRole("list", { name: "Limits" });
    await expect.poll(() => limits.getByRole("listitem").count()).toBe(4);
    const timeline = panel.getByRole("group", { name: "Timeline" });
    const heading = timeline.getByRole("heading", { name: "Timeline" });
    const [list, column] = [(await limits.boundingBox())!, (await timeline.boundingBox())!];
    expect(column.x).toBeGreaterThan(list.x + list.width);
    expect(column.y).toBeLessThan(list.y);
    for (const limit of await limits.getByRole("listitem").all()) await openLine(limit);
    await limits.getByRole("button", { name: "Refill" }).last().scrollIntoViewIfNeeded();
    expect((await limits.boundingBox())!.y).toBeLessThan(list.y);
    expect(await isSeen(heading)).toBe(true);
    expect((await timeline.boundingBox())!.y).toBe(column.y);
  });

  it("is below the limits in a narrow panel", async () => {
    const { panel } = await openPanel({ part: "model", viewport: { width: 390, height: 844 } });
    const limits = panel.getByRole("list", { name: "Limits" });
    await expect.poll(() => limits.getByRole("listitem").count()).toBe(4);
    const timeline = (await panel.getByRole("group", { name: "Timeline" }).boundingBox())!;
    const list = (await limits.boundingBox())!;
    expect(timeline.x).toBe(list.x);
    expect(timeline.y).toBeGreaterThanOrEqual(list.y + list.height);
  });
});

it("opens the details of a limit by keyboard, which moves no other part of its line", async () => {
  const { page, panel } = await openPanel();
  const limit = limitOf(panel, "sendMessage");
  const bar = limit.locator(".trl-bar");
  await limit.getByText("3 of 3").waitFor();
  const before = await bar.boundingBox();
  await limit.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await limit.getByText("Charged by").waitFor();
  expect(await bar.boundingBox()).toEqual(before);
  await page.keyboard.press("Space");
  await limit.getByText("Charged by").waitFor({ state: "detached" });
});

describe("a panel without much room", () => {
  it("shows all of four limits by keyboard at 300 px, in a host that does not scroll", async () => {
    const { page, panel } = await openPanel({
      part: "model",
      viewport: { width: 1280, height: 300 },
    });
    await page.addStyleTag({ content: "[id^=plugin-container] { overflow: hidden !important }" });
    const limits = panel.getByRole("list", { name: "Limits" }).getByRole("listitem");
    await expect.poll(() => limits.count()).toBe(4);
    for (const limit of await limits.all()) await openLine(limit);
    // The buttons are disabled until the server has told of a limit.
    await expect.poll(() => limits.locator("button:disabled").count()).toBe(0);
    // Every control, one after the other. Disabled controls take no focus.
    await panel.focus();
    const controls = await panel.locator("button:enabled, input, [role=group][tabindex='0']").all();
    expect(controls.length).toBeGreaterThan(20);
    for (const control of controls) {
      await page.keyboard.press("Tab");
      expect(await control.evaluate((one) => one === document.activeElement)).toBe(true);
      await expect.poll(() => isSeen(control)).toBe(true);
    }
  });

  it("is no wider than a window of 320 px", async () => {
    const { page, panel } = await openPanel({
      part: "model",
      viewport: { width: 320, height: 640 },
    });
    await openLine(limitOf(panel, "generations"));
    await limitOf(panel, "generations").getByRole("button", { name: "Drain" }).click();
    await panel.getByText("generations: drained, in this page only").waitFor();
    await panel
      .getByRole("img", { name: /^Last minute/ })
      .first()
      .waitFor();
    const widest = await panel.evaluate((element) =>
      Math.max(
        element.scrollWidth - element.clientWidth,
        ...[...element.querySelectorAll("*")].map((one) => one.getBoundingClientRect().right - 320),
      ),
    );
    expect(widest).toBeLessThanOrEqual(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    expect(await violationsIn(page, panel)).toEqual([]);
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
    const bar = panel.locator(".trl-bar span").first();
    expect((await bar.boundingBox())!.width).toBeGreaterThan(50);
    expect(await colours(".trl-bar span")).not.toBe(canvas);
    expect(await colours(".connection", "::before")).not.toBe(canvas);
  },
);

describe.each(byNight(["light", "dark"] as const))("the actions: %s", (colorScheme) => {
  it("change what this page shows, and asking brings the truth back", async () => {
    const { page, panel } = await openPanel({ part: "chat", colorScheme });
    const limit = limitOf(panel, "sendMessage");
    const left = limit.getByRole("definition").first();
    const act = (name: string) => limit.getByRole("button", { name, exact: true }).click();
    await openLine(limit);
    await left.getByText("3 of 3", { exact: true }).waitFor();
    await act("Drain");
    await limit.getByText(/^A call of 1 token would be denied \(\d s\)$/).waitFor();
    await page
      .getByText(/^0 (of 3|left)/)
      .first()
      .waitFor();
    await limit.getByText("Pretended: drained, in this page only.").waitFor();
    await act("Refill");
    await limit.getByText("A call of 1 token would be granted", { exact: true }).waitFor();
    await act("Deny for 10 s");
    await limit.getByText(/^A call of 1 token would be denied \((9|10) s\)$/).waitFor();
    expect(await violationsIn(page, panel)).toEqual([]);
    await act("Ask the server");
    await left.getByText("3 of 3", { exact: true }).waitFor();
    await limit.getByText("Pretended").waitFor({ state: "detached" });
  });

  it("go offline with the page and all that it sends, and online again", async () => {
    const { page, panel } = await openPanel({ part: "chat", colorScheme });
    await panel.getByRole("button", { name: "Go offline" }).click();
    await panel.getByText("offline", { exact: true }).waitFor();
    await page.locator(".connection[data-state=offline]").waitFor();
    expect(await violationsIn(page, panel)).toEqual([]);
    await panel.getByRole("button", { name: "Go online" }).click();
    await panel.getByText("live", { exact: true }).waitFor();
    await page.locator(".connection[data-state=live]").waitFor();
  });
});

it("tells what became of messages, which procedure sent them, and copies it", async () => {
  const { visitor, page, panel } = await openPanel({
    part: "chat",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const limit = limitOf(panel, "sendMessage");
  await limit.getByText("3 of 3").waitFor();
  // Each line is a message.
  await page.getByRole("textbox").first().fill("one\ntwo\nthree\nfour\nfive");
  await page.getByRole("textbox").first().press("Enter");
  const timeline = panel.locator(".trl-timeline");
  await timeline.getByText("a call waits in the page").waitFor();
  await timeline.getByText("sendMessage, chat.send").first().waitFor();
  await openLine(limit);
  await limit.getByText(/^chat\.send \((a hook has sent it|a denial has shown it)\)$/).waitFor();
  await panel.getByRole("searchbox").fill("waits");
  await expect.poll(() => timeline.getByRole("listitem").count()).toBe(1);
  await panel.getByRole("button", { name: "Copy as JSON" }).click();
  await panel.getByText("Copied as JSON.").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(JSON.parse(copied)).toMatchObject({ observers: [{ connection: "live" }] });
  await visitor.close();
});

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
    // The button is beside the content.
    const content = (await page.locator("main").boundingBox())!;
    expect((await button.boundingBox())!.x).toBeGreaterThanOrEqual(content.x + content.width);
    expect(await violationsOf(page)).toEqual([]);
    await button.click();
    const panel = page.getByRole("region", { name: "Rate limits" });
    await panel.getByText("live", { exact: true }).waitFor();
    await limitOf(panel, "sendMessage").waitFor();
    expect(problems).toEqual([]);

    // A narrow window has no room for the button.
    await page.setViewportSize({ width: 390, height: 844 });
    await button.waitFor({ state: "detached" });
    await visitor.close();
  });
});
