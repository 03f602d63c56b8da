/** The code on the pages of the site: a reader can read all of it, choose among tabs, and copy it. */
import { readdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIST, openSite, overflowOf } from "../support/site.js";
import { byNight } from "../support/nightly.js";

let site: Awaited<ReturnType<typeof openSite>>;
let { open, newVisitor, url } = {} as typeof site;
beforeAll(async () => {
  site = await openSite();
  ({ open, newVisitor, url } = site);
});
afterAll(() => site.close());

const DOCS = readdirSync(DIST, { recursive: true, encoding: "utf8" })
  .filter((file) => /^docs\/.*\.html$/.test(file))
  .map((file) => file.replace(/(?:index)?\.html$/, ""));

/** The beginning of each block whose content is wider than the block. */
const cutOff = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("pre, div[class^='language-'], .code-title")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ textContent }) => textContent.slice(0, 60)),
  );

/** Names in tables that continue on a second line. */
const brokenNames = (page: Page) =>
  page.evaluate(() => {
    const range = document.createRange();
    return [...document.querySelectorAll(".vp-doc :is(td, th) code")].flatMap((code) => {
      const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      while (texts.nextNode()) {
        const text = texts.currentNode as Text;
        for (const { 0: name, index } of text.data.matchAll(/[\w$]+/g)) {
          range.setStart(text, index);
          range.setEnd(text, index + name.length);
          if (range.getClientRects().length > 1) found.push(name);
        }
      }
      return found;
    });
  });

/** Lines of at most this many letters that take more than one line. */
const broken = (page: Page, letters: number) =>
  page.evaluate(
    (most) =>
      [...document.querySelectorAll<HTMLElement>("pre .line")]
        .filter((line) => {
          const height = Number.parseFloat(getComputedStyle(line).lineHeight);
          return line.textContent.length <= most && line.offsetHeight > 1.5 * height;
        })
        .map(({ textContent }) => textContent),
    letters,
  );

/** Shows the blocks behind tabs, too. */
const ALL_SHOWN = ".vp-code-group .blocks > * { display: block !important; }";

describe("code", () => {
  it("is cut off on no page of the documentation, at any width", { timeout: 240_000 }, async () => {
    expect(DOCS.length).toBeGreaterThan(50);
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const page = await visitor.newPage();
    const problems: unknown[] = [];
    let blocks = 0;
    for (const path of DOCS) {
      await page.goto(url + path);
      // Without scripts, no event would say that a style element has loaded.
      await page.evaluate((css) => {
        document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
      }, ALL_SHOWN);
      blocks += await page.locator("pre").count();
      for (const width of byNight([320, 390, 1280])) {
        await page.setViewportSize({ width, height: 800 });
        const [cut, overflow] = [await cutOff(page), await overflowOf(page)];
        if (cut.length > 0 || overflow > 0) problems.push({ path, width, cut, overflow });
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const line of await broken(page, 88)) problems.push({ path, line });
    }
    expect(problems).toEqual([]);
    expect(blocks).toBeGreaterThan(200);
  });

  it.each(["", "playground/"])("is cut off neither on %j", async (path) => {
    await using page = await open(path);
    // The overview loads when a visitor comes near it.
    await page.locator("#root").scrollIntoViewIfNeeded();
    await page
      .getByText(/^\d+(?:\.\d)? of \d+/)
      .first()
      .waitFor();
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(() => overflowOf(page)).toBeLessThanOrEqual(0);
      expect([width, await cutOff(page)]).toEqual([width, []]);
    }
  });

  it("is cut off on no paper, and is dark on white", async () => {
    await using visitor = await newVisitor({
      colorScheme: "dark",
      viewport: { width: 700, height: 900 },
    });
    const page = await open("docs/limits", visitor);
    await page.locator("html.dark").waitFor();
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await cutOff(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const around = [".VPNav", ".VPSidebar", ".VPLocalNav", ".as-markdown", "button.copy"];
    const visible = around.map((name) => page.locator(name).first().isVisible());
    expect(await Promise.all(visible)).toEqual(around.map(() => false));
    const lightness = await page.evaluate(() =>
      [...document.querySelectorAll("pre .line span, .vp-doc p")].map((element) =>
        Math.max(...getComputedStyle(element).color.match(/\d+/g)!.slice(0, 3).map(Number)),
      ),
    );
    expect(lightness.length).toBeGreaterThan(30);
    expect(Math.max(...lightness)).toBeLessThan(215);
  });

  it("has no broken name in a table, on no phone", { timeout: 240_000 }, async () => {
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const page = await visitor.newPage();
    const problems: unknown[] = [];
    let tables = 0;
    for (const path of DOCS) {
      await page.goto(url + path);
      tables += await page.locator(".vp-doc table").count();
      for (const width of byNight([320, 390])) {
        await page.setViewportSize({ width, height: 800 });
        const names = await brokenNames(page);
        if (names.length > 0) problems.push({ path, width, names });
      }
    }
    expect(problems).toEqual([]);
    expect(tables).toBeGreaterThan(100);
  });

  it("goes on further in, where a line is too long", async () => {
    await using page = await open("docs/limits");
    await page.setViewportSize({ width: 390, height: 800 });
    const insets = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("pre .line")].flatMap((line) => {
        const text = document.createRange();
        text.selectNodeContents(line);
        const lefts = [...text.getClientRects()].map(({ left }) => Math.round(left));
        const tops = new Set([...text.getClientRects()].map(({ top }) => Math.round(top)));
        const indent = /^ */.exec(line.textContent)![0].length;
        return tops.size > 1 && indent === 0 ? [lefts.at(-1)! - lefts[0]!] : [];
      }),
    );
    expect(insets.length).toBeGreaterThan(0);
    expect(Math.min(...insets)).toBeGreaterThan(0);
  });
});

const clipboardOf = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

describe("a block", () => {
  it("has its path as a title, and is copied without it", async () => {
    await using page = await open("docs/guides/express");
    const block = page.locator("div[class^='language-']", {
      has: page.locator(".code-title", { hasText: /^express\/server\.ts$/ }),
    });
    await block.getByRole("button", { name: "Copy the code" }).click();
    await block.locator("button.copied").waitFor();
    const copied = await clipboardOf(page);
    expect(copied).toMatch(/^import /);
    expect(copied).not.toContain("// express/server.ts");
    expect(page.problems).toEqual([]);
  });

  it("has the lines highlighted that its page names", async () => {
    await using page = await open("docs/limits");
    expect(await page.locator(".line.highlighted").allTextContents()).toEqual([
      expect.stringMatching(/^ *sendMessage: \{ kind: "token bucket"/),
    ]);
  });

  it("of npm's commands has tabs for the keyboard, whose choice stays", async () => {
    await using page = await open("docs/guides/vite");
    const group = page.getByRole("radiogroup", { name: "Package manager" });
    const commands = page.locator(".vp-code-group .active");
    expect(await group.count()).toBeGreaterThan(2);
    await group.first().getByRole("radio", { name: "npm", exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => commands.allTextContents())
      .toEqual(expect.not.arrayContaining([expect.stringMatching(/npx|(?<!p)npm install/)]));
    expect(await commands.first().textContent()).toContain("pnpm add");
    await page.goto(`${url}docs/metrics`);
    await page.getByText("pnpm add @opentelemetry/api").waitFor();
    expect(await group.getByRole("radio", { name: "pnpm" }).isChecked()).toBe(true);
    await page.locator(".vp-code-group label", { hasText: /^bun$/ }).click();
    await page.locator(".active .copy").click();
    await page.locator("button.copied").waitFor();
    expect(await clipboardOf(page)).toBe("bun add @opentelemetry/api");
    expect(page.problems).toEqual([]);
  });

  it("for a store counts on all pages, and is shown before anything is drawn after a reload", async () => {
    await using visitor = await newVisitor();
    await visitor.addInitScript(() => {
      // The blocks that were seen in any frame, and how far the page has moved.
      Object.assign(globalThis, { seen: new Set<string>(), moved: 0 });
      const { seen } = globalThis as unknown as { seen: Set<string> };
      const look = () => {
        for (const label of document.querySelectorAll<HTMLElement>(
          "[data-kind=Store] > .tabs > input:checked + label",
        ))
          seen.add(label.dataset["title"]!);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
          (globalThis as unknown as { moved: number }).moved += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    const page = await open("docs/stores", visitor);
    await page.locator("[data-kind=Store] label", { hasText: /^Kysely$/ }).click();
    await page.getByText("kyselyStore(db, { pool })").waitFor();

    // Another page has the same choice, among other tabs.
    await page.goto(`${url}docs/transactions`);
    await page.getByText('tx.insertInto("message")').first().waitFor();
    const group = page.getByRole("radiogroup", { name: "Store" });
    expect(await group.getByRole("radio", { name: "Kysely" }).isChecked()).toBe(true);

    await page.reload();
    await page.getByText('tx.insertInto("message")').first().waitFor();
    await page.waitForLoadState("networkidle");
    const facts = await page.evaluate(() => {
      const { seen, moved } = globalThis as unknown as { seen: Set<string>; moved: number };
      return { seen: [...seen], moved };
    });
    expect(facts.seen).toEqual(["Kysely"]);
    expect(facts.moved).toBeLessThanOrEqual(0.01);
    expect(page.problems).toEqual([]);
  });

  it("for a client changes all tabs of the page at once, and those of other browser tabs", async () => {
    await using visitor = await newVisitor();
    const [page, other] = [
      await open("docs/mutations", visitor),
      await open("docs/react", visitor),
    ];
    const shown = (of: Page) =>
      of.locator("[data-kind=Client] > .tabs > input:checked + label").allTextContents();
    expect(await shown(page)).toEqual(["tRPC", "tRPC"]);
    await page
      .locator("[data-kind=Client] label", { hasText: /^fetch$/ })
      .first()
      .click();
    expect(await shown(page)).toEqual(["fetch", "fetch"]);
    await page.getByText("rateLimitFetch(fetch, {").waitFor();
    await expect.poll(() => shown(other)).toEqual(["fetch"]);
    // A page without the chosen tab shows its first one.
    await page.evaluate(() => localStorage.setItem("tabs:Store", "MariaDB"));
    await page.goto(`${url}docs/transactions`);
    await page.getByText("tx.message.create({ data })").first().waitFor();
    expect([...page.problems, ...other.problems]).toEqual([]);
  });

  it("of npm's commands has those of npm without JavaScript, and its tabs", async () => {
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const page = await open("docs/metrics", visitor);
    await page.getByText("npm install @opentelemetry/api").waitFor();
    expect(await page.getByText("bun add").isVisible()).toBe(false);
    await page.locator(".vp-code-group label", { hasText: /^bun$/ }).click();
    await page.getByText("bun add @opentelemetry/api").waitFor();
    expect(await page.getByText("npm install @opentelemetry/api").isVisible()).toBe(false);
    expect(await page.locator("button.copy").first().isVisible()).toBe(false);
  });
});

describe("a page as Markdown", () => {
  it("is copied by a button, with the paths of its code and with whole links", async () => {
    await using page = await open("docs/guides/express");
    await page.getByRole("button", { name: "Copy page as Markdown" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    const copied = await clipboardOf(page);
    expect(copied).toMatch(/^# Express and plain SQL\n/);
    expect(copied).toContain("// express/server.ts\n");
    expect(copied).not.toMatch(/\]\(\/docs/);
    const address = await page.getByRole("link", { name: "View as Markdown" }).getAttribute("href");
    const served = await page.request.get(new URL(address!, url).href);
    expect([served.status(), await served.text()]).toEqual([200, copied]);
    expect(page.problems).toEqual([]);
  });

  it("says so where it cannot be copied", async () => {
    await using page = await open("docs/limits");
    await page.route("**/*.md", (route) => route.abort());
    await page.getByRole("button", { name: "Copy page as Markdown" }).click();
    await page.getByRole("status").filter({ hasText: "It could not be copied" }).waitFor();
  });
});
