/** What the first part of the demo says while its server, its network or its page is away. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { startDemo } from "../support/demo.js";
import { demo, openBrowser } from "./shared.js";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

async function open(url: string, prepare?: (page: Page) => Promise<unknown>) {
  const visitor = await browser.newContext({ colorScheme: "light" });
  const page = await visitor.newPage();
  await prepare?.(page);
  await page.goto(url);
  await page.getByText("5 of 5 calls left").waitFor();
  await page.locator(".connection[data-state=live]").waitFor();
  return Object.assign(page, { visitor, [Symbol.asyncDispose]: () => visitor.close() });
}

const send = (page: Page) => page.locator(".try > button");
const said = (page: Page) => page.locator(".try .last");
const answered = (page: Page) =>
  said(page).filter({ hasText: /^The server let it pass, and answered in \d+ ms\.$/ });
const banner = (page: Page) => page.locator(".offline-banner > span");
/** What is there when nothing has been answered. */
const NOTHING = "The page knows the wait. Call anyway to hear it from the server.";
const LATER = "Sends when you are back.";

it("says nothing of answers from before while the server is down", async () => {
  await using own = await startDemo();
  await using page = await open(own.url);
  await send(page).click();
  await answered(page).waitFor();
  await own.kill();
  await banner(page).waitFor();
  await said(page).filter({ hasText: NOTHING }).waitFor();
  // The colour of a denial, which is a variable of the page.
  const colour = (each: Element) => getComputedStyle(each).color;
  expect(await banner(page).evaluate(colour)).toBe("rgb(179, 38, 30)");
  await send(page).click();
  await said(page).filter({ hasText: "The server did not answer. Try again." }).waitFor();
  expect(await violationsOf(page)).toEqual([]);

  const port = Number(new URL(own.url).port);
  await using _ = await startDemo({ databaseUrl: own.databaseUrl, port });
  await banner(page).waitFor({ state: "detached" });
  await send(page).filter({ hasText: "Send" }).click();
  await answered(page).waitFor();
});

it("does not say that the server has answered beside a banner that says the opposite", async () => {
  await using own = await startDemo();
  await using page = await open(own.url, (each) => each.addInitScript(recordContradictions));
  own.freeze();
  await send(page).click();
  await banner(page).waitFor();
  own.thaw();
  await answered(page).waitFor();
  await banner(page).waitFor({ state: "detached" });
  expect(await page.evaluate("contradictions")).toEqual([]);
});

/** Runs in the page: records each answer that is shown below the banner. */
function recordContradictions(): void {
  const contradictions: string[] = [];
  Object.assign(globalThis, { contradictions });
  new MutationObserver(() => {
    const text = document.querySelector(".try .last")?.textContent ?? "";
    if (document.querySelector(".offline-banner > span") && text.startsWith("The server let")) {
      contradictions.push(text);
    }
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

it("says of a press without a network that it is sent later, and counts no time before that", async () => {
  await using page = await open(demo.url, (each) => each.clock.install());
  await page.visitor.setOffline(true);
  await banner(page).waitFor();
  await send(page).click();
  await said(page).filter({ hasText: LATER }).waitFor();
  await banner(page).filter({ hasText: LATER }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.clock.fastForward(60_000);
  await page.visitor.setOffline(false);
  await answered(page).waitFor();
  await banner(page).waitFor({ state: "detached" });
  const [, ms] = /in (\d+) ms/.exec((await said(page).textContent())!)!;
  // The clock of the page went on by a minute meanwhile.
  expect(Number(ms)).toBeLessThan(60_000);
  await page.getByText("4 of 5 calls left").or(page.getByText("5 of 5 calls left")).waitFor();
});

it.each([
  ["log-in", "Log in"],
  ["race", "Make 50 calls"],
  ["sign-ups", "Sign up"],
])("says so in the part %s, too", async (part, name) => {
  await using page = await open(demo.url);
  await page.goto(`${demo.url}/#${part}`);
  const button = page.getByRole("button", { name, exact: true });
  await button.waitFor();
  if (part === "log-in") await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.visitor.setOffline(true);
  await button.click();
  await page.getByRole("main").getByRole("status").filter({ hasText: LATER }).waitFor();
  await page.visitor.setOffline(false);
  await page.getByText(LATER).first().waitFor({ state: "detached" });
});

it("gives no time for an answer that came while the page slept", async () => {
  await using page = await open(demo.url, (each) => each.clock.install());
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route(/overview\.send/, async (route) => {
    await isReleased;
    await route.continue();
  });
  await send(page).click();
  await page.getByText("4 of 5 calls left").waitFor();
  // As if the lid was closed: the clock jumps, and timers are late.
  await page.clock.fastForward(60_000);
  release();
  await said(page).filter({ hasText: "The server let it pass while this page slept." }).waitFor();
});

it("knows what is left when it is frozen and comes back", async () => {
  await using page = await open(demo.url);
  const session = await page.visitor.newCDPSession(page);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  // Another tab of the visitor uses all of the calls.
  const calls = Array.from({ length: 5 }, () =>
    page.request.post(`${demo.url}/trpc/overview.send`, { data: {} }),
  );
  await Promise.all(calls);
  await session.send("Page.setWebLifecycleState", { state: "active" });
  await send(page)
    .filter({ hasText: /^Wait \ds$/ })
    .waitFor();
  await page.locator(".connection[data-state=live]").waitFor();
  expect(await banner(page).count()).toBe(0);
});
