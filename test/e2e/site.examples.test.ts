/** The examples of the documentation: each runs the block of code below it. */
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { openSite, overflowOf, PHONE } from "../support/site.js";

let site: Awaited<ReturnType<typeof openSite>>;
let { open, newVisitor } = {} as typeof site;
beforeAll(async () => {
  site = await openSite();
  ({ open, newVisitor } = site);
});
afterAll(() => site.close());

/** Presses until the limit denies, however slow the machine is. */
async function pressUntil(example: FrameLocator, text: RegExp): Promise<void> {
  await expect
    .poll(async () => {
      const button = example.getByRole("button", { name: /^Send/ });
      if (await button.isVisible()) await button.evaluate((each: HTMLElement) => each.click());
      return example.locator("body").textContent();
    })
    .toMatch(text);
}

const EXAMPLES: readonly [
  name: string,
  page: string,
  works: (of: FrameLocator) => Promise<void>,
][] = [
  ["countdown", "docs/countdown", (example) => pressUntil(example, /Wait \d+s/)],
  ["button", "docs/react", (example) => pressUntil(example, /Wait \d+s/)],
  ["mutation", "docs/mutations", (example) => pressUntil(example, /[2-9] to be sent in \d+s/)],
  [
    "devtools",
    "docs/devtools",
    async (example) => {
      await example.getByText("live", { exact: true }).waitFor();
      await pressUntil(example, /denied \(\d+ s\)/);
      await example.getByRole("button", { name: "Go offline" }).click();
      await example.getByRole("button", { name: "Go online" }).waitFor();
    },
  ],
  [
    "admin",
    "docs/admin",
    async (example) => {
      await example.getByRole("heading", { name: "apiCalls" }).waitFor();
      await example.getByText("the last hour").waitFor();
      await example.getByRole("link", { name: "Who", exact: true }).click();
      await example
        .getByText(/^customer \d+$/)
        .first()
        .waitFor();
    },
  ],
];

const place = (page: Page) => page.locator(".live-part.example");
const frameOf = (page: Page, name: string) =>
  page.frameLocator(`.live-part iframe[src$="/examples/?${name}"]`);

describe.each(EXAMPLES)("the example %j", (name, path, works) => {
  it("is loaded when a reader comes to it, works, and moves nothing", async () => {
    // So low that no example is in view at first.
    await using visitor = await newVisitor({ viewport: { width: 1280, height: 200 } });
    await visitor.addInitScript(() => {
      Object.assign(globalThis, { moved: 0 });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
          (globalThis as unknown as { moved: number }).moved += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    const page = await open(path, visitor);
    await place(page).waitFor();
    expect(await page.locator(".live-part iframe").count()).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await place(page).scrollIntoViewIfNeeded();
    await works(frameOf(page, name));
    const moved = await page.evaluate(() => (globalThis as unknown as { moved: number }).moved);
    expect(moved).toBeLessThanOrEqual(0.01);
    expect(page.problems).toEqual([]);
  });

  it("has no barrier in light and dark, and fits on a phone", async () => {
    await using page = await open(`examples/?${name}`);
    await page.getByRole("heading", { level: 1, name: /^(?!An example$)/ }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.evaluate(() =>
      Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))),
    );
    expect(await violationsOf(page)).toEqual([]);
    await page.setViewportSize(PHONE);
    await expect.poll(() => overflowOf(page)).toBeLessThanOrEqual(0);
    expect(page.problems).toEqual([]);
  });

  it("follows the theme of its page", async () => {
    await using page = await open(path);
    await place(page).scrollIntoViewIfNeeded();
    const root = frameOf(page, name).locator("html");
    await frameOf(page, name)
      .getByRole("heading", { level: 1, name: /^(?!An example$)/ })
      .waitFor();
    const colour = () => root.evaluate((html) => getComputedStyle(html).backgroundColor);
    expect(await colour()).toBe("rgb(255, 255, 255)");
    await page.getByRole("switch", { name: /dark theme/i }).click();
    await expect.poll(colour).toBe("rgb(18, 17, 23)");
  });
});

it("is one box with its code, which has no place for it without JavaScript", async () => {
  await using page = await open("docs/countdown");
  const code = page.locator(".live-part.example + div[class^='language-']");
  const [above, below] = [(await place(page).boundingBox())!, (await code.boundingBox())!];
  expect(Math.round(above.y + above.height)).toBe(Math.round(below.y));
  expect([above.x, above.width]).toEqual([below.x, below.width]);
  await page.setViewportSize(PHONE);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);

  await using visitor = await newVisitor({ javaScriptEnabled: false });
  const plain = await open("docs/countdown", visitor);
  await plain.getByText("client/waiting.tsx").waitFor();
  expect(await place(plain).isVisible()).toBe(false);
});
