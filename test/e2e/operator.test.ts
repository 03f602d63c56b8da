/** What people on call ask of a control room, among 10,000 limited customers, in at most three presses. */
import { readdir, readFile } from "node:fs/promises";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { createPostgresDatabase } from "../support/demo-database.js";
import { openStore } from "../support/open-store.js";
import { problemsOf } from "../support/problems.js";
import { createRedisRows, NO_REDIS, redisUrl } from "../support/redis-rows.js";
import { LOUDEST, startOperatorApp } from "./operator-app.js";
import { openBrowser } from "./shared.js";

const POSTGRES = process.env["TEST_POSTGRES_URL"];
/** Polling alone would show an action on the customer's open page after five seconds. */
const BY_THE_STREAM = { timeout: 4_500 };

const MIGRATIONS = new URL("../../prisma/postgresql/migrations/", import.meta.url);

async function onPostgres() {
  const database = await createPostgresDatabase(POSTGRES!);
  const folders = (await readdir(MIGRATIONS, { withFileTypes: true })).filter((each) =>
    each.isDirectory(),
  );
  for (const { name } of folders.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    await database.run(await readFile(new URL(`${name}/migration.sql`, MIGRATIONS), "utf8"));
  }
  const { store, close } = openStore("pg", database.url);
  return {
    store,
    async [Symbol.asyncDispose]() {
      await close();
      await database.drop();
    },
  };
}

async function onRedis() {
  const rows = createRedisRows();
  return { store: rows.open(), [Symbol.asyncDispose]: () => rows[Symbol.asyncDispose]() };
}

const STORES = [
  {
    name: "PostgreSQL",
    open: onPostgres,
    skip: POSTGRES === undefined ? "TEST_POSTGRES_URL is not set" : "",
  },
  { name: "Redis", open: onRedis, skip: redisUrl === undefined ? NO_REDIS : "" },
];

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

describe.each(STORES)("on $name, with 10,000 limited customers", ({ open, skip }) => {
  let opened: Awaited<ReturnType<typeof open>> | undefined;
  let app: Awaited<ReturnType<typeof startOperatorApp>>;
  beforeAll(async () => {
    if (skip !== "") return;
    opened = await open();
    app = await startOperatorApp(opened.store);
    await app.limitAll();
  }, 120_000);
  afterAll(async () => {
    if (opened === undefined) return;
    await app[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  /** @returns the page, and what counts the presses of a person. */
  async function openRoom(path = "/") {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const problems = problemsOf(page);
    await page.goto(app.url + path);
    await page.getByRole("region", { name: "Rate limits" }).waitFor();
    let presses = 0;
    const press = async (target: Locator) => {
      presses++;
      await target.click();
    };
    const done = async () => {
      expect(presses).toBeLessThanOrEqual(3);
      expect(await violationsOf(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    };
    return { page, press, done };
  }
  const button = (page: Page, name: string | RegExp) =>
    page.getByRole("button", { name, exact: typeof name === "string" });
  const view = (page: Page, name: string) =>
    page.getByRole("navigation").getByText(name, { exact: true });
  const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

  it("is this customer blocked? The key need not be typed as it is stored", async (context) => {
    if (skip !== "") return context.skip(skip);
    const { page, press, done } = await openRoom();
    await page.getByLabel("Look up a key").fill("  customer 4321 ");
    await press(button(page, "Look up"));
    await press(button(page, "Customer 4321"));
    await heading(page, "Customer 4321").waitFor();
    const card = page.getByRole("region", { name: "apiCalls", exact: true });
    await card.getByText("0 of 10 left").waitFor();
    await card.getByText(/^may go on in \d+m/).waitFor();
    await done();
  });

  it("who hammers us? The loudest customer stands first", async (context) => {
    if (skip !== "") return context.skip(skip);
    const { page, press, done } = await openRoom();
    await press(view(page, "Who"));
    const first = page.locator("tbody tr").first();
    await first.filter({ hasText: LOUDEST }).waitFor({ timeout: 20_000 });
    await page.getByText(/from usage, complete since/).waitFor();
    await press(page.getByLabel("Took most"));
    await first.filter({ hasText: "customer 8" }).waitFor({ timeout: 20_000 });
    await done();
  });

  it("give a customer 100 more until tomorrow, which the open page shows at once", async (context) => {
    if (skip !== "") return context.skip(skip);
    const customer = await browser.newPage();
    await customer.goto(`${app.url}/customer`);
    await customer.getByRole("button", { name: "Call (0 left)" }).waitFor();
    const { page, press, done } = await openRoom();
    await page.getByLabel("Look up a key").fill("Customer 3");
    await press(button(page, "Look up"));
    await press(button(page, "Give more").first());
    await page.getByLabel("Why").first().fill("a launch");
    await press(button(page, "Give"));
    const start = performance.now();
    await customer.getByRole("button", { name: /^Call \(100 left\)$/ }).waitFor(BY_THE_STREAM);
    console.log(`shown on the customer's page after ${Math.round(performance.now() - start)} ms`);
    await page.getByText(/^Done: 100 more until .*09:00\.$/).waitFor();
    const [override] = await app.limiter.overrides.list("apiCalls");
    expect(override).toMatchObject({ key: "Customer 3", add: 100 });
    expect(new Date(override!.until!).getMinutes()).toBe(0);
    await done();
    await customer.close();
  });

  it("what changed last night? Who did what, and why, and it is undone", async (context) => {
    if (skip !== "") return context.skip(skip);
    await app.limiter.overrides.clear("apiCalls", { key: "Customer 5" });
    const { page, press, done } = await openRoom("/?rla-key=stored:Customer 5");
    await button(page, "Ban").first().click();
    await page.getByText("Deny every call of this key?").waitFor();
    await page.getByLabel("Why").fill("a scraper");
    await page.locator(".rla-form").getByRole("button", { name: "Ban" }).click();
    await page.getByText(/^Done: banned until/).waitFor();
    await press(view(page, "Changes"));
    const entry = page.getByRole("listitem").filter({ hasText: "a scraper" });
    await entry.filter({ hasText: "Customer 5" }).filter({ hasText: "by ann" }).waitFor();
    await press(entry.getByRole("button", { name: /^Undo/ }));
    await press(entry.getByRole("button", { name: "Yes, undo it" }));
    await page.getByText("Undone.").waitFor();
    const left = await app.limiter.overrides.list("apiCalls");
    expect(left.filter(({ key }) => key === "Customer 5")).toEqual([]);
    await done();
  });
});
