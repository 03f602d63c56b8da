/** An upgrade and a downgrade of a customer whose page is open, in Chromium. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { problemsOf } from "../support/problems.js";
import { openBrowser } from "./shared.js";
import { startUpgradeServer, type Way } from "./upgrade-server.js";

/**
 * How long a customer who has just paid may wait, ms. By itself, a stream polls once a minute. On a quiet
 * machine, a customer waits for one second at most.
 */
const BOUND = 4_000;
/** The bound for a page that polls: its next poll, and the bound above. */
const NEXT_POLL = 5000 + BOUND;

let browser: Browser;
type App = Awaited<ReturnType<typeof startUpgradeServer>>;
let apps: Record<"tRPC" | "limiter", App>;
beforeAll(async () => {
  const starting = Promise.all([startUpgradeServer("tRPC"), startUpgradeServer("limiter")]);
  const [opened, [tRPC, limiter]] = await Promise.all([openBrowser(), starting]);
  browser = opened;
  apps = { tRPC, limiter };
});
afterAll(async () => {
  await browser.close();
  for (const app of Object.values(apps)) await app[Symbol.asyncDispose]();
});

const button = (page: Page, text: string) => page.getByRole("button", { name: text, exact: true });

it.each<[way: Way, live: "stream" | "poll", bound: number]>([
  ["tRPC", "stream", BOUND],
  ["limiter", "stream", BOUND],
  ["overrides", "stream", BOUND],
  ["using", "stream", BOUND],
  ["tRPC", "poll", NEXT_POLL],
  ["limiter", "poll", NEXT_POLL],
  ["overrides", "poll", NEXT_POLL],
])(
  "by %s, the button of an open page (%s) opens within %i ms, with 45 left",
  async (way, live, bound) => {
    const visitor = `${way}_${live}`;
    const app = way === "limiter" ? apps.limiter : apps.tRPC;
    await using context = await browser.newContext();
    await context.addCookies([{ name: "visitor", value: visitor, url: app.url }]);
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    const problems = problemsOf(page);
    await page.goto(`${app.url}/?live=${live}`);
    const chosen = page.locator("[aria-current=true]");
    await chosen.and(page.getByText("free: 5 pictures a day")).waitFor();
    for (let left = 5; left > 0; left--) await button(page, `Draw (${left} of 5 left)`).click();
    const used = button(page, "Draw (0 of 5 left)");
    await used.waitFor();
    expect(await used.isDisabled()).toBe(true);
    await expect
      .poll(
        async () => (await app.limiter.getValue("pictures", { key: visitor, plan: "free" })).value,
      )
      .toBe(0);

    await app.change(way, visitor, true);
    const changed = performance.now();
    const paid = button(page, "Draw (45 of 50 left)");
    await paid.waitFor({ timeout: bound });
    const took = Math.round(performance.now() - changed);
    console.log(`by ${way}, ${live}: 45 of 50 left on the page ${took} ms after the change`);
    await chosen.and(page.getByText("pro: 50 pictures a day")).waitFor();
    expect(await paid.isEnabled()).toBe(true);
    await paid.click();
    await button(page, "Draw (44 of 50 left)").waitFor();
    await expect
      .poll(
        async () => (await app.limiter.getValue("pictures", { key: visitor, plan: "pro" })).value,
      )
      .toBe(44);

    await app.change(way, visitor, false);
    await used.waitFor({ timeout: bound });
    expect(await used.isDisabled()).toBe(true);
    expect(problems).toEqual([]);
  },
);
