/** The part behind the others, with two processes on one database. */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type Axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPostgresDatabase, type DemoDatabase } from "../support/demo-database.js";
import { type Demo, startDemo } from "../support/demo.js";
import { problemsOf } from "../support/problems.js";
import { followPartLink } from "../support/show-part.js";
import { openBrowser } from "./shared.js";
import { byNight } from "../support/nightly.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
const AXE = fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url));
const POSTGRES = process.env["TEST_POSTGRES_URL"];

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

async function openBehind(demo: Demo, context: BrowserContext) {
  const page = await context.newPage();
  const problems = problemsOf(page);
  await page.goto(`${demo.url}/#behind`);
  await page.getByRole("heading", { name: "Behind it" }).waitFor();
  return Object.assign(page, { problems });
}

async function sendMessage(demo: Demo, context: BrowserContext): Promise<void> {
  const sent = await context.request.post(`${demo.url}/trpc/chat.send`, {
    data: { text: "hello", nonce: randomUUID() },
  });
  expect(sent.status()).toBe(200);
}

/** For a page that reads once a second from two processes, on a machine with other load. */
const SLOW = { timeout: 60_000 };
const rows = (page: Page) => page.getByRole("region", { name: "The table rate_limits" });
const row = (page: Page, text: string) => rows(page).getByRole("row").filter({ hasText: text });
/** Waits until a row with this text shows these stored tokens. */
async function waitForStored(page: Page, text: string, tokens: RegExp): Promise<void> {
  await expect
    .poll(() => row(page, text).locator("td:nth-of-type(1)").allTextContents(), SLOW)
    .toEqual(expect.arrayContaining([expect.stringMatching(tokens)]));
}
const focused = (page: Page) => page.locator(":focus");
const counted = (page: Page, number: number) =>
  page.getByRole("region", { name: `Process ${number}`, exact: true });

/** How many messages both processes have granted, as far as the page has heard. */
async function granted(page: Page): Promise<number> {
  const texts = await page
    .getByRole("region", { name: /^Process \d$/ })
    .getByRole("row", { name: /^sendMessage/ })
    .locator("td:nth-of-type(1)")
    .allTextContents();
  return texts.reduce((total, text) => total + Number(text), 0);
}

const databases = [
  { name: "SQLite", create: async () => undefined, isThere: true },
  {
    name: "PostgreSQL",
    create: () => createPostgresDatabase(POSTGRES!),
    isThere: POSTGRES !== undefined,
  },
];

for (const { name, create, isThere } of databases) {
  describe.runIf(isThere)(`behind it, with two processes on ${name}`, () => {
    let demo: Demo;
    let database: DemoDatabase | undefined;
    let visitor: BrowserContext;
    let stranger: BrowserContext;

    beforeAll(async () => {
      database = await create();
      const args = ["--processes", "2"];
      demo = await startDemo(database ? { args, databaseUrl: database.url } : { args });
    });
    beforeEach(async () => {
      visitor = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      stranger = await browser.newContext();
      // Each context gets the visitor's cookie with the page.
      for (const context of [visitor, stranger]) await context.request.get(demo.url);
    });
    afterEach(() => Promise.all([visitor.close(), stranger.close()]));
    afterAll(async () => {
      // The first process ends the others.
      await demo.interrupt();
      await demo[Symbol.asyncDispose]();
      await database?.drop();
    });

    it("shows what both processes have done, and rows that change while one looks", async () => {
      const page = await openBehind(demo, visitor);
      await rows(page).getByText("The table is empty").waitFor(SLOW);
      await counted(page, 1).waitFor(SLOW);
      await counted(page, 2).waitFor(SLOW);
      await page.getByText(/^Process [12] reads it once a second\.$/).waitFor(SLOW);

      await sendMessage(demo, stranger);
      await waitForStored(page, "sendMessage", /^1\.0 used/);
      // Another visitor's row: its key is shortened, and the row is not marked as one's own.
      await row(page, "sendMessage")
        .getByText(/^[0-9a-f]{4}…[0-9a-f]{4}$/)
        .waitFor();
      // Send more than one message, because a token may have come back meanwhile.
      await Promise.all([sendMessage(demo, stranger), sendMessage(demo, stranger)]);
      await waitForStored(page, "sendMessage", /^(?:[23]\.\d|1\.[1-9]) used/);

      await sendMessage(demo, visitor);
      await waitForStored(page, ", you", /^1\.0 used/);
      // One's own row comes first, after the head of the table.
      await expect.poll(() => rows(page).getByRole("row").nth(1).textContent()).toContain(", you");
      await expect.poll(() => granted(page), SLOW).toBe(4);
      await page.getByText("live, by a stream").waitFor();
      expect(page.problems).toEqual([]);
    });

    it("deletes one's own rows, and no others", async () => {
      for (const context of [visitor, stranger]) await sendMessage(demo, context);
      const page = await openBehind(demo, visitor);
      await row(page, ", you").waitFor();
      await page.getByRole("button", { name: "Reset my limits" }).click();
      await page.getByText(/^Process [12] has deleted \d rows\.$/).waitFor();
      // The button has kept the focus.
      await page.getByRole("button", { name: "Reset my limits" }).and(focused(page)).waitFor();
      await row(page, ", you").waitFor({ state: "detached" });
      await waitForStored(page, "sendMessage", /^1\.0 used/);
      // The other parts of the page show the reset, too.
      await followPartLink(page, "Chat");
      await page.locator('[role=meter][aria-valuenow="3"]').waitFor();
      expect(page.problems).toEqual([]);
    });
  });
}

describe("behind it, in one process", () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await startDemo();
  });
  afterAll(() => demo[Symbol.asyncDispose]());

  it.each(
    byNight(
      [
        [1280, "light"],
        [390, "dark"],
        [1280, "dark"],
        [390, "light"],
        [320, "light"],
      ] as const,
      2,
    ),
  )("fits %i px in %s, and passes axe", async (width, colorScheme) => {
    const viewport = { width, height: 844 };
    const visitor = await browser.newContext({ viewport, colorScheme, hasTouch: width === 390 });
    await visitor.request.get(demo.url);
    await sendMessage(demo, visitor);
    // A limit with large numbers.
    await visitor.request.post(`${demo.url}/trpc/model.changePlan`, { data: { plan: "paid" } });
    await visitor.request.post(`${demo.url}/trpc/model.ask`, { data: { text: "a", length: 100 } });
    const page = await openBehind(demo, visitor);
    await row(page, ", you").first().waitFor();
    await counted(page, 1).waitFor();
    const figures = row(page, "llmTokens")
      .first()
      .getByText(/^1[12],\d{3} of 12,000$/);
    await figures.waitFor();
    const { height } = (await figures.boundingBox())!;
    if (width >= 400) expect(height).toBeLessThan(30);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    );
    const button = page.getByRole("button", { name: "Reset my limits" });
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await page.screenshot({ path: `${SCREENSHOTS}behind-${width}-${colorScheme}.png` });
    await page.addScriptTag({ path: AXE });
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: typeof Axe };
      return (await axe.run()).violations.map(({ id, nodes }) => [id, nodes.map((n) => n.html)]);
    });
    expect(violations).toEqual([]);
    await visitor.close();
  });

  it("says that the server does not answer, and goes on when it is back", async () => {
    const visitor = await browser.newContext();
    const page = await openBehind(demo, visitor);
    await page.getByText("Process 1 reads it once a second.").waitFor();
    await counted(page, 1).waitFor();
    expect(await demo.interrupt()).toBe(0);
    await rows(page).getByText("This was the last read.").waitFor();
    await page.getByText("These were the last counts.").waitFor();
    const { databaseUrl, url } = demo;
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await page.getByText("Process 1 reads it once a second.").waitFor();
    await page.getByText("The last answer came from process 1.").waitFor();
    await visitor.close();
  });
});
