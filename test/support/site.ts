/** The built site, served as it is published, and a browser on it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import sirv from "sirv";
import { readAddress } from "../../site/address.js";
import { launchChromium } from "./chromium.js";

export const DIST = fileURLToPath(new URL("../../site/dist", import.meta.url));
export const PHONE = { width: 390, height: 844 };

/** @throws Error where there is no Chromium. */
export async function openSite() {
  const { base } = readAddress();
  const browser = await launchChromium();
  const files = sirv(DIST, { dev: true });
  // The site is served below a path, as on GitHub Pages, where 404.html answers for a missing page.
  const server = createServer((req, res) => {
    req.url = req.url!.startsWith(base) ? req.url!.slice(base.length - 1) : "/404";
    files(req, res, () => {
      req.url = "/404.html";
      files(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}${base}`;

  const newVisitor = (options?: BrowserContextOptions) =>
    browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: "light",
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });

  /**
   * Opens a page of the site, and records what its console says.
   *
   * @param visitor the browser context of the tab. @default a new visitor
   */
  async function open(path: string, visitor?: BrowserContext) {
    const context = visitor ?? (await newVisitor());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("console", (line) => {
      if (["error", "warning"].includes(line.type())) problems.push(line.text());
    });
    await page.goto(url + path);
    return Object.assign(page, { problems, [Symbol.asyncDispose]: () => context.close() });
  }

  async function close(): Promise<void> {
    await browser.close();
    server.close();
  }
  return { url, newVisitor, open, close };
}

/** How far the page is wider than its window, px. */
export const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
