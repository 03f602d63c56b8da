/** The first part: a race for each visitor who arrives, a button under a real limit, and the lines that act. */
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { byNight } from "../support/nightly.js";
import { problemsOf } from "../support/problems.js";
import { demo, openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** The first part, as a new visitor sees it. */
async function open(options?: Parameters<Browser["newContext"]>[0]) {
  const visitor = await browser.newContext(options);
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.addInitScript(recordCounts);
  await page.goto(demo.url);
  await left(page, 5).waitFor();
  return {
    page,
    async [Symbol.asyncDispose]() {
      expect(problems).toEqual([]);
      await visitor.close();
    },
  };
}

const button = (page: Page) => page.locator(".try > button");
const left = (page: Page, count: number) => page.getByText(`${count} of 5 calls left`);
const waiting = (page: Page) => button(page).filter({ hasText: /^Wait \ds$/ });
const ready = (page: Page) => button(page).filter({ hasText: /^Send$/ });
/** All presses at once, so that no token comes back meanwhile. */
const drain = (page: Page) =>
  button(page).evaluate((each: HTMLElement) => {
    for (let i = 0; i < 8; i++) each.click();
  });
const anyway = (page: Page) => page.getByRole("button", { name: "Call anyway" });
const sentWhileWaiting = (page: Page, count: number) =>
  page.locator(".anyway").getByText(`Requests sent while waiting: ${count}`, { exact: true });
/** The processes of the race may have to start first, on a machine with other load. */
const SLOW = { timeout: 90_000 };
const SUMMARY = /^The limit is 10\. The ten lines granted (\d+) calls, this package (\d+)\.$/;
/** The result of the race in words, once the race is over. */
async function summaryOf(page: Page): Promise<{ naive: number; own: number }> {
  const status = page.getByRole("status").filter({ hasText: SUMMARY });
  await status.waitFor({ ...SLOW, state: "attached" });
  const [, naive, own] = SUMMARY.exec((await status.textContent())!)!;
  return { naive: Number(naive), own: Number(own) };
}
const side = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const dots = (page: Page, name: string, outcome: string) =>
  side(page, name).locator(`.dots [data-outcome=${outcome}]`).count();
/** The line with this text, while it acts. */
const acting = (page: Page, text: string) =>
  page.locator(".line[data-acts=true]").filter({ hasText: text });

it("drains, counts down and comes back, and the lines act that do it", async () => {
  await using visitor = await open();
  const { page } = visitor;
  // A line acts for a second.
  await Promise.all([
    button(page).click(),
    acting(page, "onClick={() => send.mutate()}").waitFor(),
    acting(page, `.use(rl.rateLimited("sendHello"))`).waitFor(),
    acting(page, ".mutation(").waitFor(),
    acting(page, "sendHello: { kind:").waitFor(),
  ]);
  await page.getByText(/^The server let it pass, and answered in \d+ ms\.$/).waitFor();
  expect(await acting(page, "RateLimitCountdown").count()).toBe(0);

  // Wait for a full bucket, so that the wait after it is as long as possible.
  await left(page, 5).waitFor();
  await Promise.all([
    drain(page),
    waiting(page).waitFor(),
    left(page, 0).waitFor(),
    page.locator("[role=meter][aria-valuenow='0']").waitFor(),
    acting(page, "<RateLimitCountdown").waitFor(),
    page.getByText(/^Your next call: \d\d:\d\d:\d\d\.\d{3}/).waitFor(),
  ]);
  await Promise.all([
    ready(page).waitFor(),
    left(page, 1).waitFor(),
    acting(page, "<RateLimitCountdown").waitFor({ state: "detached" }),
  ]);
  // The page was right: the server lets this call pass.
  await Promise.all([drain(page), waiting(page).waitFor()]);
  await page.getByText("The server let it pass").waitFor();
});

it("sends nothing while it waits, and counts what is sent all the same, which the server denies", async () => {
  await using visitor = await open();
  const { page } = visitor;
  let calls = 0;
  let answer = "";
  await page.route(/overview\.send/, async (route) => {
    // The calls of one tick travel in one request.
    calls += route.request().url().split("overview.send").length - 1;
    const response = await route.fetch();
    answer = await response.text();
    await route.fulfill({ response });
  });
  // A call before the wait does not count.
  await anyway(page).click({ force: true });
  await Promise.all([drain(page), waiting(page).waitFor(), left(page, 0).waitFor()]);
  await expect.poll(() => calls).toBe(5);
  await drain(page);
  await sentWhileWaiting(page, 0).waitFor();

  await ready(page).waitFor();
  // Wait for a full bucket, so that the wait after it is as long as possible.
  await left(page, 5).waitFor();
  await Promise.all([drain(page), waiting(page).waitFor()]);
  // Press at once: a token comes back after two seconds, and Playwright's search for the button may take
  // as long.
  await anyway(page).evaluate((each: HTMLElement) => each.click());
  const shown = page.getByText(/^The server denied it: 429, with retryAfter [\d.]+ ms\.$/);
  const [said] = /retryAfter [\d.]+/.exec((await shown.textContent())!)!;
  expect(answer).toContain(said.replace(" ", '":'));
  await sentWhileWaiting(page, 1).waitFor();
  expect(calls).toBe(11);
});

describe("the race", { timeout: SLOW.timeout }, () => {
  it("runs when a visitor arrives, and shows the calls of both sides", async () => {
    await using visitor = await open();
    const { page } = visitor;
    const { naive, own } = await summaryOf(page);
    expect(naive).toBeGreaterThanOrEqual(25);
    expect(own).toBe(10);
    expect({
      granted: await dots(page, "Your own ten lines", "granted"),
      over: await dots(page, "Your own ten lines", "over"),
      denied: await dots(page, "Your own ten lines", "denied"),
    }).toEqual({ granted: 10, over: naive - 10, denied: 50 - naive });
    expect(await dots(page, "This package", "granted")).toBe(10);
    expect(await dots(page, "This package", "denied")).toBe(40);
    await side(page, "Your own ten lines").getByText(`${naive} granted`).waitFor();
    await side(page, "Your own ten lines").getByText("limit 10", { exact: true }).waitFor();
    await side(page, "Your own ten lines")
      .getByRole("img", {
        name: `10 granted, ${naive - 10} granted beyond the limit, ${50 - naive} denied`,
      })
      .waitFor();
    await side(page, "This package").getByRole("img", { name: "10 granted, 40 denied" }).waitFor();
    // The processes are the demo's, and not the server's own.
    const asked = await page.request.get(`${demo.url}/trpc/race.processes`);
    const { result } = (await asked.json()) as { result: { data: { pids: number[] } } };
    await page.getByText(`The processes ${result.data.pids.join(" and ")} of this`).waitFor();
    await page.getByText("On SQLite, each statement takes 1 ms more").waitFor();
    // The times are shown where they are explained.
    expect(await page.locator(".sides").textContent()).not.toContain(" ms");

    // The race used none of the visitor's own races.
    await page.goto(`${demo.url}/#race`);
    await page.getByText("5 of 5 races left").waitFor();
  });

  it("is one for all who arrive in the same seconds", async () => {
    await using visitor = await open();
    await summaryOf(visitor.page);
    const { request } = visitor.page;
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () =>
        (await request.get(`${demo.url}/trpc/race.arrival`)).text(),
      ),
    );
    // The answers have the same times, too. The seconds may end meanwhile, so there may be two races.
    expect(new Set(answers).size).toBeLessThanOrEqual(2);
  });

  it("runs again, until the visitor has none left, and keeps the focus", async () => {
    await using visitor = await open();
    const { page } = visitor;
    await summaryOf(page);
    const again = page.locator(".again button");
    await again.focus();
    const isReady = again
      .filter({ hasText: "Run again" })
      .and(page.locator("[aria-disabled=false]"));
    await isReady.waitFor(SLOW);
    const answer = page.waitForResponse(/race\.run/, SLOW);
    await page.keyboard.press("Enter");
    await answer;
    await isReady.waitFor(SLOW);
    // Start races from another tab, at once: a race may take longer than a token needs to come back.
    const others = Array.from({ length: 5 }, () =>
      page.request.post(`${demo.url}/trpc/race.run`, { data: { tick: "same" }, ...SLOW }),
    );
    await again.locator(COUNTDOWN).waitFor(SLOW);
    await page.keyboard.press("Enter");
    await page
      .getByText(/^Not yet: in \d s\.$/)
      .first()
      .waitFor({ state: "attached" });
    expect(await again.evaluate((each) => each === document.activeElement)).toBe(true);
    await again.filter({ hasText: "Run again" }).waitFor();
    await Promise.all(others);
  });

  it.each([
    ["no-preference", "one after the other"],
    ["reduce", "at once, for a visitor who wants no motion"],
  ] as const)("shows its answers (%s) %s", async (reducedMotion, _how) => {
    await using visitor = await open({ reducedMotion });
    const { page } = visitor;
    await summaryOf(page);
    const counts = await page.evaluate(
      () => (globalThis as unknown as { counts: string[] }).counts,
    );
    // Before the first race of a server is over, there is no result.
    const results = counts.filter((text) => text.trim() !== "");
    expect(results.join()).toMatch(/^(?:\d+ granted,?)+$/);
    // How many of them are seen depends on how often a busy machine draws: see use-replay.test.ts.
    if (reducedMotion === "reduce") expect(results).toEqual(["10 granted"]);
    else expect([results.includes("0 granted"), results.at(-1)]).toEqual([true, "10 granted"]);
  });
});

/** Runs in the page: records each text in which the package's side says how many calls were granted. */
function recordCounts(): void {
  const counts: string[] = [];
  Object.assign(globalThis, { counts });
  new MutationObserver(() => {
    const text = [...document.querySelectorAll(".granted b")].at(-1)?.textContent;
    if (text !== undefined && text !== counts.at(-1)) counts.push(text);
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

it("works with the keyboard, and keeps the focus while it waits", async () => {
  await using visitor = await open({ reducedMotion: "reduce" });
  const { page } = visitor;
  await button(page).focus();
  const kept = page.locator(".try button:focus[aria-disabled=true]").waitFor();
  for (let i = 0; i < 20 && !(await waiting(page).isVisible()); i++) {
    await page.keyboard.press("Enter");
  }
  await kept;
  await ready(page).waitFor();
  await page.keyboard.press("Space");
  await page.getByText("The server let it pass").waitFor();
});

it("gives the command to install it to the clipboard", async () => {
  await using visitor = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = visitor;
  await page.getByRole("button", { name: "Copy the command" }).click();
  await page.getByRole("button", { name: "Copied the command" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("npm i trpc-rate-limit");
});

describe.each(
  byNight(
    [
      { width: 1280, height: 800 },
      { width: 320, height: 640 },
      { width: 390, height: 844 },
    ],
    2,
  ),
)("at $width px", (viewport) => {
  const bottomOf = async (each: Locator) => {
    const { y, height } = (await each.boundingBox())!;
    return y + height;
  };

  it.each(["light", "dark"] as const)(
    "fits and has no barrier, in %s",
    SLOW,
    async (colorScheme) => {
      await using visitor = await open({ viewport, colorScheme });
      const { page } = visitor;
      const race = page.locator(".arrival");
      const { height } = (await race.boundingBox())!;
      await summaryOf(page);
      // The room for the race was there before.
      expect((await race.boundingBox())!.height).toBeCloseTo(height, 0);
      await Promise.all([drain(page), waiting(page).waitFor()]);
      await anyway(page).click();
      await page.getByText("The server denied it").waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
      // The claim and the button are seen at once. In a wide window, the race is seen at once, too.
      expect(await bottomOf(button(page))).toBeLessThan(viewport.height);
      if (viewport.width === 1280) expect(await bottomOf(race)).toBeLessThan(viewport.height);
      expect(await violationsOf(page)).toEqual([]);
    },
  );
});
