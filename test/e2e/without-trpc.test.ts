/** What visitors of an application without tRPC meet: live limits over HTTP alone, in Chromium. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { problemsOf } from "../support/problems.js";
import { startFetchApp } from "./fetch-app.js";
import { openBrowser } from "./shared.js";

let browser: Browser;
let app: Awaited<ReturnType<typeof startFetchApp>>;
let visitors: BrowserContext[] = [];
let numbers = 0;

beforeAll(async () => {
  [browser, app] = await Promise.all([openBrowser(), startFetchApp()]);
});
afterEach(async () => {
  await Promise.all(visitors.map((visitor) => visitor.close()));
  visitors = [];
});
afterAll(async () => {
  await browser.close();
  await app[Symbol.asyncDispose]();
});

async function newVisitor(): Promise<{ visitor: BrowserContext; name: string }> {
  const name = `visitor${++numbers}`;
  const visitor = await browser.newContext();
  await visitor.addCookies([{ name: "visitor", value: name, url: app.url }]);
  visitors.push(visitor);
  return { visitor, name };
}

async function open(
  visitor: BrowserContext,
  query = "",
): Promise<Page & { problems: readonly string[] }> {
  const page = await visitor.newPage();
  page.setDefaultTimeout(15_000);
  const problems = problemsOf(page);
  await page.goto(`${app.url}/?${query}`);
  return Object.assign(page, { problems });
}

const send = (page: Page, left: number) =>
  page.getByRole("button", { name: `Send (${left} left)`, exact: true });
const waiting = (page: Page) => page.getByRole("button", { name: /^Wait \d+s$/ });
const connection = (page: Page, state: string) =>
  page.locator("#connection", { hasText: new RegExp(`^${state}$`) });
const answersOf = (name: string) =>
  app.answers.filter(({ visitor }) => visitor === name).map(({ status }) => status);

async function useUp(page: Page): Promise<void> {
  await send(page, 3).waitFor();
  for (let left = 3; left > 0; left--) await send(page, left).click();
  await waiting(page).waitFor();
}

const VISITS = isNightly ? 60 : 6;

it(
  `each of ${VISITS} visitors is granted whatever the button offers, and waits no longer than that`,
  { timeout: VISITS * 10_000 },
  async () => {
    for (let i = 0; i < VISITS; i++) {
      const { visitor, name } = await newVisitor();
      const page = await open(visitor, i % 2 === 0 ? "" : "live=poll");
      await useUp(page);
      // The button is enabled at the ms at which the next call passes, without an answer of the server.
      await send(page, 1).click();
      await waiting(page).waitFor();
      expect(answersOf(name)).toEqual([200, 200, 200, 200]);
      // A call that the page does not offer is denied.
      const early = await page.evaluate(
        async () => (await fetch("/api/messages", { method: "POST" })).status,
      );
      expect(early).toBe(429);
      expect(page.problems.filter((text) => !text.includes("429"))).toEqual([]);
      await visitor.close();
    }
  },
);

it("a page is hydrated as the server has rendered it, and is live without a reload", async () => {
  const { visitor } = await newVisitor();
  const page = await open(visitor);
  await connection(page, "live").waitFor();
  await send(page, 3).waitFor();
  expect(page.problems).toEqual([]);
});

it("another tab shows what the first one takes, over one stream where they share it", async () => {
  const { visitor, name } = await newVisitor();
  const before = app.streams.size;
  const tabs = [await open(visitor, "shares"), await open(visitor, "shares")] as const;
  for (const tab of tabs) await connection(tab, "live").waitFor();
  await expect.poll(() => app.streams.size - before).toBe(1);
  await send(tabs[0], 3).click();
  await send(tabs[1], 2).waitFor();
  // Another device, which is no tab of this browser.
  await app.limiter.limit("sendMessage", { key: name, count: 2 });
  for (const tab of tabs) await waiting(tab).waitFor();
  for (const { problems } of tabs) expect(problems).toEqual([]);
});

it("a denial that no page foresaw counts down, though its mutation has thrown nothing", async () => {
  const { visitor, name } = await newVisitor();
  const page = await open(visitor, "live=poll");
  await send(page, 3).waitFor();
  await app.limiter.limit("sendMessage", { key: name, count: 3 });
  await send(page, 3).click();
  await waiting(page).waitFor();
  await page.locator("#answer", { hasText: "exceeded" }).waitFor();
  await send(page, 1).waitFor();
  expect(answersOf(name)).toEqual([429]);
});

it("calls that wait are sent by themselves, in the next window", async () => {
  const { visitor, name } = await newVisitor();
  const page = await open(visitor);
  await connection(page, "live").waitFor();
  const windowLeft = async () => {
    const { ts, config } = await app.limiter.getValue("vote", { key: name });
    return ts + Number(config.period) - Date.now();
  };
  // All three calls come in one window, also on a slow machine.
  await expect.poll(windowLeft, { interval: 50 }).toBeGreaterThan(4000);
  await page.getByRole("button", { name: "Vote three times" }).click();
  await page.getByText("2 sent, 1 held").waitFor();
  await page.getByText("3 sent, 0 held").waitFor();
  // The page may not know the limit before the third call, which is then denied, and waits.
  expect(answersOf(name).filter((status) => status === 200)).toHaveLength(3);
  expect(page.problems.filter((problem) => !problem.includes("429"))).toEqual([]);
});

it("a page behind a proxy that holds streams back polls, and its button is right", async () => {
  const { visitor, name } = await newVisitor();
  const page = await open(visitor, "url=/buffered/limits");
  await useUp(page);
  await connection(page, "polling").waitFor();
  await send(page, 1).click();
  await waiting(page).waitFor();
  expect(answersOf(name)).toEqual([200, 200, 200, 200]);
});

it("a page without a network keeps its call, and is right when the network is back", async () => {
  const { visitor, name } = await newVisitor();
  const page = await open(visitor);
  await connection(page, "live").waitFor();
  await visitor.setOffline(true);
  await app.limiter.limit("sendMessage", { key: name, count: 3 });
  await visitor.setOffline(false);
  // What the page has missed.
  await waiting(page).waitFor();
  await send(page, 1).waitFor();
  await connection(page, "live").waitFor();
});

it("a page that slept shows what was taken meanwhile", async () => {
  const { visitor, name } = await newVisitor();
  const page = await open(visitor);
  await connection(page, "live").waitFor();
  const session = await visitor.newCDPSession(page);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await app.limiter.limit("sendMessage", { key: name, count: 3 });
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await waiting(page).waitFor();
  expect(page.problems).toEqual([]);
});

it("a stream that the server ends is opened anew", async () => {
  const { visitor, name } = await newVisitor();
  const page = await open(visitor);
  await connection(page, "live").waitFor();
  await app.stop();
  await connection(page, "(polling|offline)").waitFor();
  await app.start();
  await connection(page, "live").waitFor({ timeout: 40_000 });
  await app.limiter.limit("sendMessage", { key: name, count: 3 });
  await waiting(page).waitFor();
});
