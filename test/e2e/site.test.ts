/** The published site: pages without a server, and parts of the demo with a server in a worker. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { expectOneBucket, pressSend } from "../support/seen-calls.js";
import { openSite, overflowOf, PHONE } from "../support/site.js";
import { byNight } from "../support/nightly.js";

let site: Awaited<ReturnType<typeof openSite>>;
let { open, newVisitor, url } = {} as typeof site;
beforeAll(async () => {
  site = await openSite();
  ({ open, newVisitor, url } = site);
});
afterAll(() => site.close());

const PAGES: readonly [path: string, heading: string | RegExp][] = [
  ["", /./],
  ["playground/", "Playground"],
  ["docs/", "Documentation"],
  ["docs/limits", "Limits"],
  ["docs/performance", "Performance"],
  ["docs/cli", /./],
  ["docs/guides/choosing-a-limit", /./],
  ["bucket/", "A limit to try"],
  ["docs/reference/react/", "trpc-rate-limit/react"],
  ["docs/reference/server/createRateLimiter", "createRateLimiter"],
];

describe("the page", () => {
  it.each(PAGES)(
    "at %j has no barrier in light and dark, and fits on a phone",
    async (path, name) => {
      await using page = await open(path);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      // A button fades from one colour to the other.
      await page.evaluate(() =>
        Promise.all(document.getAnimations().map(({ finished }) => finished)),
      );
      expect(await violationsOf(page)).toEqual([]);
      await page.setViewportSize(PHONE);
      // The plot is drawn a moment after the window changes.
      await expect.poll(() => overflowOf(page)).toBeLessThanOrEqual(0);
      expect(page.problems).toEqual([]);
    },
  );
});

describe("the documentation", () => {
  it("finds what it describes", async () => {
    await using page = await open("docs/");
    await page.getByRole("button", { name: /^Search/ }).click();
    await page.getByRole("combobox", { name: "Search" }).fill("blockFor");
    const found = page.getByRole("option");
    await found.first().waitFor();
    await found.filter({ hasText: "Closed buckets" }).first().click();
    await page.waitForURL(/docs\/closing/);
    expect(page.problems).toEqual([]);
  });

  it("has a card for each page of its index, below what it says in short", async () => {
    await using page = await open("docs/guides/");
    expect(await page.locator("p.in-short").allTextContents()).toEqual([
      expect.stringMatching(/^In short: /),
    ]);
    const card = page.locator(".cards li").filter({ hasText: "Plans" });
    // The whole area of the card leads to the page.
    await card.click({ position: { x: 4, y: 4 } });
    await page.getByRole("heading", { level: 1, name: "Plans" }).waitFor();
  });

  it("leads to the other pages, and from a missing one", async () => {
    await using page = await open("docs/guarantees");
    await page.getByRole("link", { name: "Playground", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    await page.getByRole("link", { name: "Docs", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Documentation" }).waitFor();
    await page.goto(`${url}docs/gone`);
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "Overview" }).click();
    await page.waitForURL(url);
  });

  it("leads from a missing page to the search, the quick start and the index", async () => {
    await using page = await open("docs/gone");
    const main = page.getByRole("main");
    await main.getByRole("button", { name: "Search the documentation" }).click();
    await page.getByRole("combobox", { name: "Search" }).fill("blockFor");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Escape");
    await main.getByRole("link", { name: "Quick start" }).click();
    await page.getByRole("heading", { level: 1, name: /quick start/i }).waitFor();
    await page.goto(`${url}docs/gone`);
    await main.getByRole("link", { name: "All pages of the documentation" }).click();
    await page.getByRole("heading", { level: 1, name: "Documentation" }).waitFor();
  });

  it("leads from an address with .html to the page of a folder", async () => {
    await using page = await open("docs/reference.html#server");
    await page.getByRole("heading", { level: 1, name: "Reference" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#server");
    await page.goto(`${url}docs/gone.html`);
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
  });

  it("prints a page over the whole width of the paper, also in landscape", async () => {
    // A4 at 96 pixels per inch.
    await using visitor = await newVisitor({ viewport: { width: 1123, height: 794 } });
    const page = await open("docs/limits", visitor);
    await page.emulateMedia({ media: "print" });
    const box = (await page.locator(".vp-doc").boundingBox())!;
    expect([box.x, box.width]).toEqual([0, 1123]);
  });

  it.each(["", "playground/"])(
    "has the colours that were chosen on %j, and gives its own",
    async (path) => {
      await using page = await open("docs/");
      await page.getByRole("switch", { name: /dark theme/i }).click();
      await page.locator("html.dark").waitFor();
      await page.goto(url + path);
      const colour = () => getComputedStyle(document.documentElement).backgroundColor;
      expect(await page.evaluate(colour)).toBe("rgb(18, 17, 23)");
      const dark = page.getByRole("switch", { name: "Dark theme", checked: true });
      await dark.focus();
      await page.keyboard.press("Space");
      await page.getByRole("switch", { name: "Dark theme", checked: false }).waitFor();
      expect(await page.evaluate(colour)).toBe("rgb(245, 244, 248)");
      await page.goto(`${url}docs/`);
      await page.getByRole("heading", { level: 1, name: "Documentation" }).waitFor();
      expect(await page.locator("html.dark").count()).toBe(0);
      expect(page.problems).toEqual([]);
    },
  );
});

/** Opens the first page, and scrolls to the overview, which loads then. */
async function openOverview(visitor?: Parameters<typeof open>[1]) {
  const page = await open("", visitor);
  await page.getByRole("heading", { name: /^Limit calls exactly/ }).scrollIntoViewIfNeeded();
  await page.getByText("5 of 5").waitFor();
  return page;
}

describe("the overview", () => {
  it("loads when a visitor comes near it", async () => {
    await using page = await open("");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.waitForLoadState("networkidle");
    const scripts = await page.locator("script[src], link[rel=modulepreload]").count();
    expect(scripts).toBeLessThanOrEqual(4);
    expect(await page.getByRole("button", { name: "Send" }).count()).toBe(0);
    expect(requests.filter((each) => /overview|worker/.test(each))).toEqual([]);
    await page.getByRole("heading", { name: /^Limit calls exactly/ }).scrollIntoViewIfNeeded();
    await page.getByRole("button", { name: "Send" }).waitFor();
    expect(requests.some((each) => each.includes("overview"))).toBe(true);
    expect(page.problems).toEqual([]);
  });

  it("has no barrier below the question, in light and dark", { timeout: 60_000 }, async () => {
    // No button fades from one colour to the other.
    await using visitor = await newVisitor({ reducedMotion: "reduce" });
    const page = await openOverview(visitor);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  });

  it("races two callers of its worker, and says that they are no processes", async () => {
    await using page = await openOverview();
    const summary = page.getByRole("status").filter({ hasText: "this package 10." });
    await summary.waitFor({ state: "attached" });
    const text = (await summary.textContent())!;
    expect(Number(/ten lines granted (\d+) calls/.exec(text)?.[1])).toBeGreaterThan(10);
    const own = page.getByRole("region", { name: "This package" });
    await own.getByRole("img", { name: "10 granted, 40 denied" }).waitFor();
    await page
      .getByText(
        "Two callers in a web worker of this browser. The tables of both sides answer a moment later, as a database does.",
      )
      .waitFor();
    await page.locator("#root").getByRole("button", { name: "Run again" }).click();
    await own.getByText("Exactly the limit", { exact: true }).waitFor();
    expect(page.problems).toEqual([]);
  });

  it.each(byNight([1280, 390, 1000, 700, 320], 2))(
    "comes without a jump, %i px wide",
    async (width) => {
      await using visitor = await newVisitor({ viewport: { width, height: 800 } });
      const page = await visitor.newPage();
      await page.addInitScript(() => {
        Object.assign(globalThis, { moved: 0 });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            (globalThis as unknown as { moved: number }).moved += (
              entry as unknown as { value: number }
            ).value;
          }
        }).observe({ type: "layout-shift", buffered: true });
      });
      // The overview is late, so that the visitor is there before it.
      let arrive: () => void;
      const arrived = new Promise<void>((resolve) => (arrive = resolve));
      await page.route(/overview[^/]*\.js$/, async (route) => {
        await arrived;
        await route.continue();
      });
      await page.goto(url);
      await page.getByRole("heading", { name: "How a call goes" }).scrollIntoViewIfNeeded();
      const height = () => page.evaluate(() => document.documentElement.scrollHeight);
      await page.getByRole("img", { name: /^The way of a call/ }).waitFor();
      const before = await height();
      arrive!();
      await page.getByText(/^Exactly the limit/).waitFor();
      expect(await height()).toBe(before);
      const moved = await page.evaluate(() => (globalThis as unknown as { moved: number }).moved);
      expect(moved).toBeLessThan(0.01);
    },
  );

  it("drains a limit and gets it back, without a server", async () => {
    await using page = await openOverview();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const button = page.getByRole("button", { name: /^(?:Send|Wait)/ });
    // All presses at once, so that no token comes back meanwhile.
    await button.evaluate((each: HTMLElement) => {
      for (let i = 0; i < 8; i++) each.click();
    });
    await page.getByRole("button", { name: /^Wait/ }).waitFor();
    await page.getByText("Requests sent while waiting: 0").waitFor();
    await page.getByRole("button", { name: "Call anyway" }).click();
    await page.getByText(/^The server denied it: 429, with retryAfter [\d.]+ ms\.$/).waitFor();
    await page.getByText("Requests sent while waiting: 1").waitFor();
    await page.getByRole("button", { name: /^Send/ }).waitFor();
    expect(requests).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  it("counts down in all tabs of a browser together", async () => {
    await using visitor = await newVisitor();
    const [page, other] = [await openOverview(visitor), await openOverview(visitor)];
    await expectOneBucket(page, other);
    expect([...page.problems, ...other.problems]).toEqual([]);
  }, 60_000);

  it("has a limit of its own in each tab of a browser that shares no worker", async () => {
    await using visitor = await newVisitor();
    await visitor.addInitScript(() => {
      delete (globalThis as { SharedWorker?: unknown }).SharedWorker;
    });
    const [page, other] = [await openOverview(visitor), await openOverview(visitor)];
    await pressSend(page, 3);
    await page.getByText(/[2-4] of 5/).waitFor();
    await page.getByText("The server let it pass").waitFor();
    await other.getByText("5 of 5").waitFor();
    await pressSend(other, 1);
    await other.getByText("The server let it pass").waitFor();
    expect([...page.problems, ...other.problems]).toEqual([]);
  });

  it("keeps the limit that is chosen in the playground from that of the page about limits", async () => {
    await using visitor = await newVisitor();
    const page = await open("playground/", visitor);
    await page.getByRole("button", { name: "Window", exact: true }).click();
    await page.getByText("In force: fixed window, 5 per 10 s, at most 5.").waitFor();
    const second = await open("playground/", visitor);
    await second.getByText("In force: fixed window, 5 per 10 s, at most 5.").waitFor();
    const bucket = await open("bucket/", visitor);
    await bucket.getByText("10.0 of 10 tokens: it is full.").waitFor();
    expect([page, second, bucket].flatMap(({ problems }) => problems)).toEqual([]);
  });

  it("answers a visitor who is offline", async () => {
    await using visitor = await newVisitor();
    const page = await openOverview(visitor);
    await visitor.setOffline(true);
    await page.getByRole("button", { name: /^Send/ }).click();
    await page.getByText("The server let it pass").waitFor();
  });
});

describe("the playground", () => {
  it("takes tokens, and the limit that a visitor chooses, also by a link", async () => {
    await using page = await open("playground/");
    await page.getByText("10.0 of 10 tokens: it is full.").waitFor();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText(/^9\.\d of 10 tokens/).waitFor();
    await page.getByRole("button", { name: "Window", exact: true }).click();
    await page.getByText(/^5\.0 of 5 tokens/).waitFor();
    await page.waitForURL(/playground\/#playground\?kind=fixed-window/);
    // The page has a new server after the reload, and the limit is in the address.
    await page.reload();
    await page.getByText(/^5\.0 of 5 tokens/).waitFor();
    // The next window may start meanwhile, and bring new tokens.
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: "Call", exact: true }).click();
        return page.locator(".explained").textContent();
      })
      .toMatch(/^0\.0 of 5 tokens/);
    expect(page.problems).toEqual([]);
  });
});

describe("the page about limits", () => {
  it("loads what there is to try when a reader comes to it, in the colours of the page", async () => {
    await using page = await open("docs/limits");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.waitForLoadState("networkidle");
    expect(requests.filter((each) => /\/(?:bucket|app)\//.test(each))).toEqual([]);

    await page.locator(".live-part").scrollIntoViewIfNeeded();
    const part = page.frameLocator("iframe[title^='A limit to try']");
    await part.getByText("10.0 of 10 tokens: it is full.").waitFor();
    await part.getByRole("button", { name: "Call", exact: true }).click();
    await part.getByText(/^9\.\d of 10 tokens/).waitFor();
    const colour = () =>
      part.locator("html").evaluate((root) => getComputedStyle(root).backgroundColor);
    expect(await colour()).toBe("rgb(255, 255, 255)");
    await page.getByRole("switch", { name: /dark theme/i }).click();
    await expect.poll(colour).toBe("rgb(18, 17, 23)");

    // Choosing another limit adds no step to the browser's history.
    const before = await page.evaluate(() => history.length);
    await part.getByRole("button", { name: "Window", exact: true }).click();
    await part.getByText(/^5\.0 of 5 tokens/).waitFor();
    expect(await page.evaluate(() => history.length)).toBe(before);
    expect(page.problems).toEqual([]);
  });

  it.each(byNight([1280, 390, 700, 320], 2))(
    "has room for all of it, %i px wide",
    async (width) => {
      await using page = await open("docs/limits");
      await page.setViewportSize({ width, height: 800 });
      await page.locator(".live-part").scrollIntoViewIfNeeded();
      const part = page.frameLocator(".live-part iframe");
      await part.getByText("10.0 of 10 tokens: it is full.").waitFor();
      const missing = () =>
        part
          .locator("html")
          .evaluate(({ scrollHeight, scrollWidth }) => [
            scrollHeight - innerHeight,
            scrollWidth - innerWidth,
          ]);
      await expect.poll(missing).toEqual([0, 0]);
    },
  );

  it("lets a reader with larger letters scroll to the end of it", async () => {
    await using page = await open("docs/limits");
    const place = page.locator(".live-part");
    await place.scrollIntoViewIfNeeded();
    const part = page.frameLocator(".live-part iframe");
    await part.getByText("10.0 of 10 tokens: it is full.").waitFor();
    await part.locator("html").evaluate((root) => void (root.style.fontSize = "200%"));
    await place.hover();
    await page.mouse.wheel(0, 2_000);
    const rest = () =>
      part
        .locator("html")
        .evaluate(({ scrollHeight }) => Math.round(scrollHeight - innerHeight - scrollY));
    await expect.poll(rest).toBeLessThanOrEqual(1);
  });

  it("has no place for it without JavaScript, and a picture", async () => {
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const page = await open("docs/limits", visitor);
    await page.getByRole("img", { name: /^Tokens over time/ }).waitFor();
    expect(await page.locator(".live-part").isVisible()).toBe(false);
  });
});

it.each([
  ["docs/introduction", 1280],
  ["docs/limits", 1280],
  ["docs/limits", 390],
  ["", 1280],
])("nothing moves while %s is loaded, %i px wide", async (path, width) => {
  await using visitor = await newVisitor({ viewport: { width, height: 800 } });
  const page = await visitor.newPage();
  await page.addInitScript(() => {
    const moves: string[] = [];
    Object.assign(globalThis, { moves });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
        if (entry.value > 0.001) moves.push(`${entry.value}`);
    }).observe({ type: "layout-shift", buffered: true });
  });
  // On a slow machine, whose browser paints before it has read the whole page.
  const session = await visitor.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  // Delay files, so that a move by a late file is seen.
  await page.route(/\.(?:js|svg|webp)$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  await page.goto(url + path, { waitUntil: "networkidle" });
  expect(await page.evaluate(() => (globalThis as unknown as { moves: string[] }).moves)).toEqual(
    [],
  );
});
