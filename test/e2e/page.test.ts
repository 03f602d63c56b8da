/** The page as a whole: what holds for every part of the demo, and from part to part. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { launchChromium } from "../support/chromium.js";
import { type Demo, startDemo } from "../support/demo.js";

const PARTS = ["Chat", "Log in", "Ask the model", "Sign-ups", "Playground", "Behind it"] as const;
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];

let browser: Browser;
let demo: Demo;
let visitors: BrowserContext[] = [];

beforeAll(async () => {
  [browser, demo] = await Promise.all([launchChromium(), startDemo()]);
});
afterEach(async () => {
  await Promise.all(visitors.map((visitor) => visitor.close()));
  visitors = [];
});
afterAll(async () => {
  await browser.close();
  await demo[Symbol.asyncDispose]();
});

type Options = Parameters<Browser["newContext"]>[0];
async function newVisitor(options?: Options): Promise<BrowserContext> {
  const visitor = await browser.newContext(options);
  visitors.push(visitor);
  return visitor;
}

async function newPage(visitor: BrowserContext) {
  const page = await visitor.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  return Object.assign(page, { problems });
}

const link = (page: Page, part: string) => page.getByRole("link", { name: part, exact: true });
const title = (page: Page, part: string) =>
  page.getByRole("heading", { level: 1, name: part, exact: true });
const live = (page: Page) => page.locator(".connection[data-state=live]");

async function show(page: Page, part: string): Promise<void> {
  await link(page, part).click();
  await title(page, part).waitFor();
}

describe.each(SIZES)("every part at $width px", (viewport) => {
  it.each(["light", "dark"] as const)("has no barrier and fits, in %s", async (colorScheme) => {
    const page = await newPage(await newVisitor({ viewport, colorScheme }));
    await page.goto(demo.url);
    const seen: object[] = [];
    for (const part of PARTS) {
      await page.evaluate(() => window.scrollTo(0, 400));
      await show(page, part);
      await live(page).waitFor();
      const { x, width } = (await link(page, part).boundingBox())!;
      seen.push({
        title: await page.title(),
        startsAt: await page.evaluate(() => window.scrollY),
        fits: (await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width,
        showsItsLink: x >= 0 && x + width <= viewport.width,
        violations: await violationsOf(page),
      });
    }
    const fine = { startsAt: 0, fits: true, showsItsLink: true, violations: [] };
    expect(seen).toEqual(PARTS.map((part) => ({ title: `${part} · trpc-rate-limit`, ...fine })));
    expect(page.problems).toEqual([]);
  });

  it("moves nothing when a countdown starts", async () => {
    const page = await newPage(await newVisitor({ viewport }));
    await page.addInitScript(recordShifts);
    await page.goto(demo.url);

    await page.getByText("3 left", { exact: true }).waitFor();
    const chat = await newShifts(page);
    for (const text of ["one", "two", "three"]) {
      await page.getByRole("textbox").fill(text);
      await page.keyboard.press("Enter");
    }
    await countdown(page, "Wait");
    expect(await chat()).toEqual([]);

    await show(page, "Log in");
    const attempts = (count: number) => page.getByText(`${count} of 5 attempts left`).waitFor();
    await attempts(5);
    const logIn = await newShifts(page);
    const data = { account: "demo", password: "wrong" };
    for (let i = 0; i < 4; i++) await page.request.post(`${demo.url}/trpc/logIn.attempt`, { data });
    await attempts(1);
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.keyboard.press("Enter");
    await attempts(0);
    await countdown(page, "Wait");
    expect(await logIn()).toEqual([]);

    await show(page, "Ask the model");
    await page.getByText("It would run at once.").waitFor();
    const model = await newShifts(page);
    // The answer to the first takes seconds, so the second queues.
    for (const text of ["one two three four five six seven eight nine ten", "the second"]) {
      await page.getByRole("textbox", { name: "Prompt" }).pressSequentially(text);
      await page.locator("form button.primary").click();
      await page.getByRole("listitem").filter({ hasText: text }).waitFor();
    }
    await page.locator("li progress").waitFor();
    await page.waitForTimeout(1500);
    expect(await model()).toEqual([]);
  });
});

const countdown = async (page: Page, text: string) => {
  await page.locator("button").filter({ hasText: text }).getByRole("timer").waitFor();
  // Its text changes, too.
  await page.waitForTimeout(1500);
};

/** Runs in the page. New messages and answers may push older ones, so lists are left out. */
function recordShifts(): void {
  const shifts: string[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { sources, hadRecentInput } = entry as unknown as {
        sources: { node: Node | null }[];
        hadRecentInput: boolean;
      };
      for (const { node } of sources) {
        const element = node instanceof Element ? node : node?.parentElement;
        const isInList = element?.closest("[role=log], .answers") != null;
        // The estimate of a prompt follows what is typed, and has another width.
        const isEstimate = hadRecentInput && element?.closest(".model") != null;
        if (element && !isInList && !isEstimate) shifts.push(element.outerHTML.slice(0, 80));
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/** @returns what has moved since, also right after a press of a key. */
async function newShifts(page: Page): Promise<() => Promise<string[]>> {
  const read = () => page.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts);
  // Fonts and first answers have arrived.
  await page.waitForTimeout(500);
  const before = (await read()).length;
  return async () => (await read()).slice(before);
}

it("is operated with the keyboard alone, and shows where the focus is", async () => {
  const page = await newPage(await newVisitor());
  await page.goto(demo.url);
  await title(page, "Chat").waitFor();
  for (const part of [...PARTS.slice(1), "Chat"]) {
    let focused = "";
    for (let presses = 0; focused !== part; presses++) {
      expect({ part, isFar: presses > 40 }).toEqual({ part, isFar: false });
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return { text: "", isVisible: true };
        // A label can show the focus of its field.
        const shown = [element, element.closest("label")].filter((each) => each !== null);
        const isVisible = shown.some((each) => getComputedStyle(each).outlineStyle !== "none");
        return { text: element.textContent, isVisible };
      });
      expect(seen).toEqual({ text: seen.text, isVisible: true });
      focused = seen.text;
    }
    await page.keyboard.press("Enter");
    await title(page, part).waitFor();
  }
  expect(page.problems).toEqual([]);
});

it("is usable over a slow network, and says what it waits for", async () => {
  const page = await newPage(await newVisitor());
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  });
  await page.goto(demo.url);
  await page.getByText("3 left", { exact: true }).waitFor();
  await page.getByRole("textbox").fill("slowly");
  await page.keyboard.press("Enter");
  // At once, without the server.
  await page.getByText("2 left", { exact: true }).waitFor({ timeout: 300 });
  // It is seen once it lasts.
  await page.getByText("Sending…").waitFor({ state: "attached" });
  await page.getByRole("list", { name: "Messages" }).getByText("slowly").waitFor();
  await link(page, "Playground").click();
  await page.getByText("Loading…").waitFor({ state: "attached" });
  await page.getByText("10.0 of 10 tokens").waitFor();
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.locator("dd[data-granted='1']").waitFor();
  expect(page.problems).toEqual([]);
});

it("goes on in every part, also one that is opened meanwhile, when a killed server is back", async () => {
  // A visitor each: a browser opens six connections to a server, and the streams would take them.
  const pages = await Promise.all(
    PARTS.map(async (part) => {
      const page = await newPage(await newVisitor());
      await page.goto(demo.url);
      await show(page, part);
      await live(page).waitFor();
      return page;
    }),
  );
  const late = await newPage(await newVisitor());
  await late.goto(demo.url);
  await live(late).waitFor();
  const { databaseUrl, url } = demo;
  await demo.kill();
  await Promise.all(pages.map((page) => live(page).waitFor({ state: "detached" })));
  await link(late, "Sign-ups").click();
  await late.getByText("Loading…").waitFor();

  const restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
  try {
    await Promise.all([...pages, late].map((page) => live(page).waitFor()));
    const [chat, logIn, model, signUps, playground, behind] = pages;
    await chat!.getByRole("textbox").fill("after it");
    await chat!.keyboard.press("Enter");
    await chat!.getByRole("list", { name: "Messages" }).getByText("after it").waitFor();
    await logIn!.getByLabel("Password", { exact: true }).fill("wrong");
    await logIn!.keyboard.press("Enter");
    await logIn!.getByText("4 of 5 attempts left").waitFor();
    await model!.getByRole("textbox", { name: "Prompt" }).fill("after it");
    await model!.getByRole("button", { name: "Ask", exact: true }).click();
    await model!.getByRole("listitem").filter({ hasText: "after it" }).waitFor();
    await signUps!.getByRole("button", { name: "Sign up", exact: true }).click();
    await signUps!.getByText("is signed up.").waitFor();
    await playground!.getByRole("button", { name: "Call", exact: true }).click();
    await playground!.locator("dd[data-granted='1']").waitFor();
    await behind!.getByText("Process 1 reads it once a second.").waitFor();
    await title(late, "Sign-ups").waitFor();
    await late.getByRole("listitem").filter({ hasText: "account" }).first().waitFor();
    // Chromium logs each request without an answer, and there is nothing else.
    const problems = [...pages, late].flatMap((page) => page.problems);
    expect(problems.filter((text) => !text.includes("net::ERR_"))).toEqual([]);
  } finally {
    await restarted.interrupt();
  }
});
