/** The page as a whole: tests that hold for every part of the demo, and from part to part. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readFacts } from "../../example-app/package-facts.js";
import { violationsOf } from "../support/axe.js";
import { startDemo } from "../support/demo.js";
import { byNight, isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { problemsOf } from "../support/problems.js";
import {
  followPartLink,
  groupOf,
  PARTS,
  partLink as link,
  partMenu as menu,
} from "../support/show-part.js";
import { demo, openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The first part has a sentence for a title. */
const TITLES: Partial<Record<string, RegExp>> = { Overview: /^Limit calls exactly/ };
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
];

let browser: Browser;
let visitors: BrowserContext[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  await Promise.all(visitors.map((visitor) => visitor.close()));
  visitors = [];
});
afterAll(() => browser.close());

type Options = Parameters<Browser["newContext"]>[0];
async function newVisitor(options?: Options): Promise<BrowserContext> {
  const visitor = await browser.newContext(options);
  visitors.push(visitor);
  return visitor;
}

async function newPage(visitor: BrowserContext) {
  const page = await visitor.newPage();
  // Ten pages of one test load at the same time, so they get more time.
  page.setDefaultTimeout(60_000);
  const problems = problemsOf(page);
  return Object.assign(page, { problems });
}

const title = (page: Page, part: string) =>
  page.getByRole("heading", { level: 1, name: TITLES[part] ?? part, exact: true });
const live = (page: Page) => page.locator(".connection[data-state=live]");

async function show(page: Page, part: string): Promise<void> {
  await followPartLink(page, part);
  await title(page, part).waitFor();
}

/**
 * Runs in the page: elements that are wider than their card or the page. Code and tabs scroll, and a
 * picture has its own axes.
 */
function wideElements(): string[] {
  const isWide = (element: Element) => {
    const { width, right } = element.getBoundingClientRect();
    const frame = (element.closest(".card") ?? element.closest("main")!).getBoundingClientRect();
    const isPlaced = getComputedStyle(element).position === "absolute";
    return width > 1 && !isPlaced && right > frame.right + 1;
  };
  return [...document.querySelectorAll("main *:not(pre *, svg *, [role=tablist] *)")]
    .filter(isWide)
    .map((element) => element.outerHTML.slice(0, 80));
}

/** By day, the widest window in light and the narrowest in dark. */
const LOOKS = [
  { viewport: SIZES[0]!, colorScheme: "light" },
  { viewport: SIZES[2]!, colorScheme: "dark" },
  { viewport: SIZES[0]!, colorScheme: "dark" },
  { viewport: SIZES[1]!, colorScheme: "light" },
  { viewport: SIZES[1]!, colorScheme: "dark" },
  { viewport: SIZES[2]!, colorScheme: "light" },
] as const;

describe.each(byNight(LOOKS, 2))(
  "every part at $viewport.width px",
  ({ viewport, colorScheme }) => {
    it(`has no barrier and fits, in ${colorScheme}`, async () => {
      const page = await newPage(await newVisitor({ viewport, colorScheme }));
      await page.goto(`${demo.url}/#behind`);
      const seen: object[] = [];
      for (const part of PARTS) {
        await page.evaluate(() => window.scrollTo(0, 400));
        await show(page, part);
        await live(page).waitFor();
        const current = link(page, part).and(page.locator("[aria-current=page]"));
        const named = (await menu(page).isVisible()) ? menu(page) : current;
        const { x, width } = (await named.boundingBox())!;
        seen.push({
          title: await page.title(),
          startsAt: await page.evaluate(() => window.scrollY),
          fits: (await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width,
          sticksOut: await page.evaluate(wideElements),
          isNamed: (await named.textContent())!.endsWith(part),
          showsItsName: x >= 0 && x + width <= viewport.width,
          violations: await violationsOf(page),
        });
      }
      const fine = {
        startsAt: 0,
        fits: true,
        sticksOut: [],
        isNamed: true,
        showsItsName: true,
        violations: [],
      };
      expect(seen).toEqual(PARTS.map((part) => ({ title: `${part} · trpc-rate-limit`, ...fine })));
      expect(page.problems).toEqual([]);
    });
  },
);

describe.each(byNight(SIZES.slice(0, 2)))("a part at $width px", (viewport) => {
  it("moves nothing when a countdown starts", async () => {
    const page = await newPage(await newVisitor({ viewport }));
    await page.addInitScript(recordShifts);
    await page.goto(`${demo.url}/#chat`);

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
    // The answer to the first prompt takes seconds, so the second prompt queues.
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
  await page.locator("button").filter({ hasText: text }).locator(COUNTDOWN).waitFor();
  // The text of the countdown changes, too.
  await page.waitForTimeout(1500);
};

/**
 * Runs in the page. New messages and answers may push older ones and the code below, so these are left
 * out.
 */
function recordShifts(): void {
  const shifts: string[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { sources, lastInputTime } = entry as unknown as {
        sources: { node: Node | null }[];
        lastInputTime: number;
      };
      // A browser counts 500 ms as recent input. A busy machine shows no answer within that time.
      const followsInput = entry.startTime - lastInputTime < 3000;
      for (const { node } of sources) {
        const element = node instanceof Element ? node : node?.parentElement;
        const isInList = element?.closest(".messages, .answers, .code-panel") != null;
        // The estimate of a prompt follows the typed text, and changes its width.
        const isEstimate = followsInput && element?.closest(".model") != null;
        if (element && !isInList && !isEstimate) shifts.push(element.outerHTML.slice(0, 80));
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

/** @returns the elements that have moved since, also those right after a key press. */
async function newShifts(page: Page): Promise<() => Promise<string[]>> {
  const read = () => page.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts);
  // Wait until fonts and first answers have arrived.
  await page.waitForTimeout(500);
  const before = (await read()).length;
  return async () => (await read()).slice(before);
}

describe("the code that does it", () => {
  it.each(SIZES)("opens below a part, and fits, at $width px", async (viewport) => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await newPage(await newVisitor({ viewport, permissions }));
    await page.goto(`${demo.url}/#sign-ups`);
    await live(page).waitFor();
    const code = page.getByRole("region", { name: "The code that does it" });
    expect(await code.isVisible()).toBe(false);
    await page.getByText("The code that does it").press("Enter");
    await code.getByText("// The procedure").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    await page.getByRole("button", { name: "Copy the code" }).click();
    await page.getByRole("button", { name: "Copied the code" }).waitFor();
    // The text shown is the text in the file.
    const text = await readFile(`${ROOT}example-app/sign-ups/minimal.tsx`, "utf8");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text.trimEnd());
    expect((await code.textContent())!.trimEnd()).toBe(text.trimEnd());
    expect(await violationsOf(page)).toEqual([]);
    expect(page.problems).toEqual([]);
  });
});

it("says what npm does not have yet, and links to no list of files", async () => {
  const page = await newPage(await newVisitor());
  await page.goto(demo.url);
  const { docs, repository, version } = readFacts();
  await page.getByRole("button", { name: "Copy the command" }).waitFor();
  expect(await page.getByText(/^Not on npm yet/).count()).toBe(version === "0.0.0" ? 1 : 0);
  const named = page.locator("footer").getByText("docs/README.md", { exact: true });
  expect(await named.count()).toBe(docs === "" && repository === "" ? 1 : 0);
  expect(await page.locator('a[href^="/files"]').count()).toBe(0);
  expect((await page.request.get(`${demo.url}/files/docs`)).status()).toBe(404);
  expect(page.problems).toEqual([]);
});

/** Where the focus is: the text of a title or a link, or the name of a field. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null;
    return element?.labels?.[0]?.textContent ?? element?.textContent;
  });

describe("a visitor who goes to another part", () => {
  it("sees no other link move", async () => {
    const page = await newPage(await newVisitor({ viewport: SIZES[0]! }));
    await page.goto(demo.url);
    await live(page).waitFor();
    // The control room has links of its own.
    const boxes = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".bar nav a")]
          .filter((each) => each.checkVisibility())
          .map((each) => [each.textContent, JSON.stringify(each.getBoundingClientRect())] as const),
      );
    /** Where each link was when it was seen first. */
    const places = new Map(await boxes());
    for (const part of [...PARTS.toReversed(), ...PARTS]) {
      await show(page, part);
      const seen = await boxes();
      for (const [name, box] of seen) if (!places.has(name)) places.set(name, box);
      expect({ part, seen }).toEqual({
        part,
        seen: seen.map(([name]) => [name, places.get(name)]),
      });
    }
    expect([...places.keys()]).toEqual(expect.arrayContaining([...PARTS, "Try", "Operate"]));
  });

  it("has the focus on its title, or in the field that it begins with, and hears of it", async () => {
    const page = await newPage(await newVisitor());
    await page.goto(`${demo.url}/#sign-ups`);
    await title(page, "Sign-ups").waitFor();
    await live(page).waitFor();
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
    for (const part of ["Playground", "Behind it", "Sign-ups"]) {
      await show(page, part);
      await expect.poll(() => focused(page)).toBe(part);
    }
    await show(page, "Log in");
    await expect.poll(() => focused(page)).toBe("Password");
    await page.getByRole("status").getByText("Log in", { exact: true }).waitFor();
    await page.goBack();
    await title(page, "Sign-ups").waitFor();
    await expect.poll(() => focused(page)).toBe("Sign-ups");
    expect(page.problems).toEqual([]);
  });

  it("can skip the links, and stays in the part", async () => {
    const page = await newPage(await newVisitor());
    await page.goto(`${demo.url}/#sign-ups`);
    await title(page, "Sign-ups").waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Name of the account (optional)");
    expect(new URL(page.url()).hash).toBe("#sign-ups");
    expect(page.problems).toEqual([]);
  });

  it.each(SIZES.slice(1))("finds all parts in a menu, at $width px", async (viewport) => {
    const page = await newPage(await newVisitor({ viewport }));
    await page.goto(demo.url);
    for (const part of PARTS.toReversed()) {
      await menu(page).press("Enter");
      const { x, y, width, height } = (await link(page, part).boundingBox())!;
      expect({ x: x >= 0 && x + width <= viewport.width, y }).toEqual({ x: true, y });
      expect(y >= 0 && y + height <= viewport.height).toBe(true);
      await link(page, part).press("Enter");
      await title(page, part).waitFor();
      await link(page, part).waitFor({ state: "hidden" });
    }
    await menu(page).click();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await link(page, PARTS[1]).waitFor({ state: "hidden" });
    expect(page.problems).toEqual([]);
  });
});

it("is operated with the keyboard alone, and shows where the focus is", async () => {
  const page = await newPage(await newVisitor());
  await page.goto(demo.url);
  await title(page, PARTS[0]).waitFor();
  // The link of a group leads to its first part, and shows the links of the others.
  const way = [...PARTS.slice(1), PARTS[0]].map((part, i) => {
    const group = groupOf(part);
    return { part, name: group === groupOf(PARTS[i]!) ? part : group };
  });
  for (const { part, name } of way) {
    let text = "";
    for (let presses = 0; text !== name; presses++) {
      expect({ name, isFar: presses > 80 }).toEqual({ name, isFar: false });
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(() => {
        const element = document.activeElement;
        const isElsewhere = !element || element === document.body || element.matches("iframe");
        if (isElsewhere) return { text: "", isVisible: true };
        // A label can show the focus of its field.
        const shown = [element, element.closest("label")].filter((each) => each !== null);
        const isVisible = shown.some((each) => getComputedStyle(each).outlineStyle !== "none");
        return { text: element.textContent, isVisible };
      });
      expect(seen).toEqual({ text: seen.text, isVisible: true });
      text = seen.text;
    }
    await page.keyboard.press("Enter");
    await title(page, part).waitFor();
  }
  expect(page.problems).toEqual([]);
});

it("says that it is loading before any script of its own has come", async () => {
  const page = await newPage(await newVisitor());
  await page.route(/\/assets\/.*\.js$/, () => {});
  await page.goto(demo.url, { waitUntil: "commit" });
  await page.getByText("Loading…").waitFor();
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
  await page.goto(`${demo.url}/#chat`);
  await page.getByText("3 left", { exact: true }).waitFor();
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route(/chat\.send/, async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.getByRole("textbox").fill("slowly");
  await page.keyboard.press("Enter");
  // At once, before the server has heard of the message.
  await page.getByText("2 left", { exact: true }).waitFor();
  // The text is shown only once the call takes long.
  await page.getByText("Sending…").waitFor();
  release();
  await page.getByRole("list", { name: "Messages" }).getByText("slowly").waitFor();
  const loading = page.getByText("Loading…").waitFor({ state: "attached" });
  await Promise.all([loading, followPartLink(page, "Playground")]);
  await page.getByText("10.0 of 10 tokens").waitFor();
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.locator("dd[data-granted='1']").waitFor();
  expect(page.problems).toEqual([]);
});

it.each(byNight(SIZES))(
  "says in one banner that there is no connection, at $width px",
  async (viewport) => {
    await using own = await startDemo();
    const page = await newPage(await newVisitor({ viewport }));
    const banner = page.getByText("No connection. The countdown keeps running by itself.");
    await page.goto(own.url);
    await live(page).waitFor();
    expect(await banner.count()).toBe(0);
    const { databaseUrl, url } = own;
    await own.kill();
    await banner.waitFor();
    // The banner is there over a part that waits for the server, and over a part that was there before.
    for (const part of ["Chat", "Sign-ups", "Overview"]) {
      await followPartLink(page, part);
      await page.getByText("Loading…").or(title(page, part)).first().waitFor();
      const { x, y, width } = (await banner.boundingBox())!;
      expect({ part, fits: x >= 0 && x + width <= viewport.width, y: y >= 0 }).toEqual({
        part,
        fits: true,
        y: true,
      });
      expect(await banner.count()).toBe(1);
    }
    expect(await violationsOf(page)).toEqual([]);
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await live(page).waitFor();
    await banner.waitFor({ state: "detached" });
  },
);

it("says one time only that there is no connection", async () => {
  await using own = await startDemo();
  const parts = PARTS.filter((part) => part !== "Two visitors" && part !== "Control room");
  // Each page has its own visitor: a browser opens six connections to a server, and the streams would
  // take them.
  const pages = await Promise.all(
    parts.map(async (part) => {
      const page = await newPage(await newVisitor());
      await page.goto(own.url);
      await show(page, part);
      await live(page).waitFor();
      return page;
    }),
  );
  await own.kill();
  const said = pages.map(async (page) => {
    await page.locator(".connection[data-state=offline]").waitFor();
    const texts = page.locator("p, [role=status], [role=alert]");
    await page.getByText("No connection").waitFor();
    return texts.filter({ hasText: /connection|offline|does not answer/i }).allTextContents();
  });
  const banner = ["No connection. The countdown keeps running by itself."];
  expect(await Promise.all(said)).toEqual(parts.map(() => banner));
});

it("goes on in every part, also one that is opened meanwhile, when a killed server is back", async ({
  skip,
}) => {
  // Nine pages at once, for minutes. By day, the tests of the chat lose and find a server, too.
  if (!isNightly) skip(NIGHTLY_ONLY);
  await using own = await startDemo();
  // Each page has its own visitor: a browser opens six connections to a server, and the streams would
  // take them.
  const pages = await Promise.all(
    PARTS.map(async (part) => {
      const page = await newPage(await newVisitor());
      await page.goto(own.url);
      await show(page, part);
      await live(page).waitFor();
      return page;
    }),
  );
  const late = await newPage(await newVisitor());
  await late.goto(own.url);
  await live(late).waitFor();
  const { databaseUrl, url } = own;
  await own.kill();
  await Promise.all(pages.map((page) => live(page).waitFor({ state: "detached" })));
  await link(late, "Sign-ups").click();
  await late.getByText("Loading…").waitFor();

  const restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
  try {
    await Promise.all([...pages, late].map((page) => live(page).waitFor()));
    const pageOf = (part: (typeof PARTS)[number]) => pages[PARTS.indexOf(part)]!;
    const [overview, chat, logIn, model, signUps] = pages;
    const [playground, behind] = [pageOf("Playground"), pageOf("Behind it")];
    await overview!.getByRole("button", { name: "Send" }).click();
    await overview!.getByText("The server let it pass").waitFor();
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
    await playground.getByRole("button", { name: "Call", exact: true }).click();
    await playground.locator("dd[data-granted='1']").waitFor();
    await behind.getByText("Process 1 reads it once a second.").waitFor();
    await title(late, "Sign-ups").waitFor();
    await late.getByRole("listitem").filter({ hasText: "account" }).first().waitFor();
    // Chromium logs each request without an answer, including requests for code. Nothing else is logged.
    const problems = [...pages, late].flatMap((page) => page.problems);
    const lost = /net::ERR_|^Failed to fetch dynamically imported module/;
    expect(problems.filter((text) => !lost.test(text))).toEqual([]);
  } finally {
    await restarted.interrupt();
  }
});
