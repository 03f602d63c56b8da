/** What people type into the search of the site, and the section that answers it. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { DIST, openSite, overflowOf, PHONE } from "../support/site.js";

let site: Awaited<ReturnType<typeof openSite>>;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

async function openSearch(options?: Parameters<typeof site.newVisitor>[0]) {
  const page = await site.open("docs/", await site.newVisitor(options));
  await page.getByRole("button", { name: /^Search/ }).click();
  const field = page.getByRole("combobox", { name: "Search" });
  await field.waitFor();
  return Object.assign(page, { field, found: page.getByRole("option") });
}

/** All questions are asked in one test. */
const LONG = { timeout: 60_000 };
/** The questions, by the first section that is found. */
const QUESTIONS: Record<string, string> = {
  throttle: "docs/guides/choosing-a-limit",
  monitoring: "docs/metrics",
  ddos: "docs/visitors#many-people-many-addresses",
  whitelist: "docs/recipes#exempt-an-administrator",
  debounce: "docs/mutations",
  pricing: "docs/guides/plans",
  shadcn: "docs/countdown",
  ban: "docs/guides/a-support-page",
  "multi tenant": "docs/visitors#the-key-of-a-call",
  "429": "docs/errors",
  redis: "docs/redis",
  cloudflare: "docs/guides/workers",
  "per user": "docs/visitors#the-key-of-a-call",
  countdown: "docs/countdown",
  "login attempts": "docs/guides/failed-log-ins",
  "openai tokens": "docs/guides/language-models",
  "webhook retry": "docs/guides/retries-and-webhooks",
  invoice: "docs/guides/an-invoice",
  vercel: "docs/guides/supabase",
  "prisma migrate": "docs/prisma",
  "test my limiter": "docs/testing",
  nextjs: "docs/next",
  "Next.js": "docs/next",
  supabase: "docs/guides/supabase",
  neon: "docs/guides/supabase",
  idempotency: "docs/guides/retries-and-webhooks",
  cron: "docs/guides/serverless#a-cron-job",
  expo: "docs/react#react-native-and-expo",
  orpc: "docs/guides/orpc",
  elysia: "docs/guides/elysia",
  nestjs: "docs/guides/nestjs",
  kubernetes: "docs/guides/several-servers#kubernetes",
  "better-auth": "docs/better-auth",
  "sliding window": "docs/guides/from-upstash#sliding-windows",
  gdpr: "docs/operating#forgetting-a-key",
  kuberntes: "docs/guides/several-servers#kubernetes",
  createRateLimiter: "docs/reference/server/createRateLimiter",
};

it("answers the questions that people ask with the first section that it finds", LONG, async () => {
  await using page = await openSearch();
  const answers: Record<string, string> = {};
  for (const question of Object.keys(QUESTIONS)) {
    await page.field.fill("");
    await expect.poll(() => page.found.count()).toBe(0);
    await page.field.fill(question);
    const first = page.found.first();
    answers[question] = await first.evaluate((link: HTMLAnchorElement) => link.href);
  }
  const expected = Object.entries(QUESTIONS).map(([question, section]) => [
    question,
    new URL(section, site.url).href,
  ]);
  expect(answers).toEqual(Object.fromEntries(expected));
  expect(page.problems).toEqual([]);
});

it("shows the text in which the words stand, and marks them", async () => {
  await using page = await openSearch();
  await page.field.fill("exempt");
  const first = page.found.first();
  await first.locator("p mark", { hasText: /^exempt$/i }).waitFor();
  await page.field.fill("whitelist");
  // The word of the pages, for the word of the reader.
  await first.locator("mark", { hasText: "Exempt" }).first().waitFor();
  await page.field.fill("qqqq");
  await page.getByText("Nothing for “qqqq”.").waitFor();
  expect(await page.found.count()).toBe(0);
  expect(page.problems).toEqual([]);
});

describe("with the keyboard alone", () => {
  it.each(["Control+k", "Meta+k", "/"])("opens with %s, and closes with Escape", async (keys) => {
    await using page = await site.open("docs/limits");
    const box = page.getByRole("dialog", { name: "Search the documentation" });
    await page.locator(".site-search kbd:not(:empty)").waitFor();
    await page.keyboard.press(keys);
    await box.waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe(
      "combobox",
    );
    expect(await page.getByRole("combobox", { name: "Search" }).inputValue()).toBe("");
    await page.keyboard.type("redis");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
    // The words stay, for a reader who looks at one result after the other.
    await page.keyboard.press(keys);
    await page.getByRole("option", { name: "Redis" }).first().waitFor();
  });

  it("goes through what is found, in a circle, and opens it", async () => {
    await using page = await openSearch();
    await page.field.fill("blockFor");
    const chosen = page.locator("[role=option][aria-selected=true]");
    await chosen.waitFor();
    const count = await page.found.count();
    const place = async () => {
      const id = await page.field.getAttribute("aria-activedescendant");
      expect(await chosen.getAttribute("id")).toBe(id);
      return Number(id?.split("-").at(-1));
    };
    await page.keyboard.press("ArrowUp");
    expect(await place()).toBe(count - 1);
    await page.keyboard.press("ArrowDown");
    expect(await place()).toBe(0);
    await page.keyboard.press("ArrowDown");
    expect(await place()).toBe(1);
    const href = await chosen.evaluate((link: HTMLAnchorElement) => link.href);
    await page.keyboard.press("Enter");
    await page.waitForURL(href);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.problems).toEqual([]);
  });

  it("opens from the pages of the demo's parts", async () => {
    await using page = await site.open("playground/");
    await page.locator(".site-search kbd").filter({ hasText: "Ctrl K" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).waitFor();
  });
});

it.each([
  { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  { viewport: PHONE, colorScheme: "dark" },
] as const)("has no barrier, and fits, at $viewport.width px", async (options) => {
  await using page = await openSearch(options);
  await page.field.fill("redis");
  await page.found.first().locator("p mark").first().waitFor();
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  expect(await violationsOf(page)).toEqual([]);
  // One button clears the field, and it keeps the focus.
  await page.getByRole("button", { name: "Clear" }).click();
  expect(await page.field.inputValue()).toBe("");
  expect(await page.field.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

it("loads its index when a reader opens it, and not before", async () => {
  await using page = await site.open("docs/");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.locator(".site-search kbd:not(:empty)").waitFor();
  expect(asked.filter((each) => each.includes("search"))).toEqual([]);
  const index = page.waitForResponse(/search-index\.json$/);
  await page.getByRole("button", { name: /^Search/ }).click();
  expect((await index).status()).toBe(200);
  // A third of it is sent, since servers compress it.
  expect((await stat(join(DIST, "search-index.json"))).size).toBeLessThan(250_000);
});
