/**
 * "Can your rate limiter count to ten?" on the first page, and the code that a visitor runs there, which is
 * not to be trusted.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { imageSizeOf } from "../../site/image-size.js";
import { openSite, overflowOf, PHONE } from "../support/site.js";
import { fragmentOf } from "../../site/app/count/share.js";

let site: Awaited<ReturnType<typeof openSite>>;
let { open, newVisitor, url } = {} as typeof site;
beforeAll(async () => {
  site = await openSite();
  ({ open, newVisitor, url } = site);
});
afterAll(() => site.close());

/** The address of before, to which links may lead. */
const OLD = "count/";
const still = (options = {}) => newVisitor({ reducedMotion: "reduce", ...options });
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const editorOf = (page: Page) => page.getByRole("textbox", { name: /^The code/ });

/** Runs the code of the editor. @returns what the page says at the end. */
async function runIn(page: Page, code?: string): Promise<string> {
  if (code !== undefined) await editorOf(page).fill(code);
  const said = page.locator("#count-why");
  await said.evaluate((line) => void (line.textContent = ""));
  await press(page, "Run");
  await expect.poll(() => said.textContent(), { timeout: 15_000 }).toMatch(/^\d+ of 10\. /);
  return (await said.textContent())!;
}

describe("the question", () => {
  it("runs each limiter, says its verdict, and plays to the eleventh", async () => {
    await using visitor = await still();
    const page = await open("", visitor);
    const verdicts: string[] = [];
    for (const name of await page.locator(".count-presets button").allTextContents()) {
      await press(page, name);
      await page.getByRole("button", { name, pressed: true }).waitFor();
      verdicts.push(`${name}: ${(await runIn(page)).replace(/\. .*/, "")}`);
      const eleventh = page.getByText("This is the moment the eleventh got in.");
      expect(await eleventh.count()).toBe(name === "This package" ? 0 : 1);
    }
    expect(verdicts).toEqual([
      "Read, compare, write: 50 of 10",
      expect.stringMatching(/^INCR, then EXPIRE: (?:2|3)\d of 10$/),
      "A Map per process: 20 of 10",
      expect.stringMatching(/^An increment by Prisma: (?:2|3)\d of 10$/),
      "A bucket that never denies: 50 of 10",
      "This package: 10 of 10",
    ]);
    await page.getByRole("img", { name: "10 granted, 0 granted beyond the limit" }).waitFor();
    expect(page.problems).toEqual([]);
  });

  it("is used by the keyboard alone", async () => {
    await using visitor = await still();
    const page = await open("", visitor);
    await page.getByRole("button", { name: "A Map per process" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Run", exact: true }).focus();
    await page.keyboard.press("Space");
    await page.getByText("This is the moment the eleventh got in.").waitFor();
    const slider = page.getByRole("slider", { name: "Step" });
    const place = await slider.inputValue();
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    expect(Number(await slider.inputValue())).toBe(Number(place) - 1);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^\d+ of \d+, [\d.]+ ms, process/);
    await press(page, "The eleventh");
    expect(await slider.inputValue()).toBe(place);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Home");
    await press(page, "Play");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await expect.poll(() => slider.inputValue()).toBe(place);
    await page.getByRole("button", { name: "Play" }).waitFor();
    // The editor holds no focus: Tab leaves it.
    await editorOf(page).focus();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("count-run");
  });

  it.each([1280, 390])("has no barrier in any colours, %i px wide", async (width) => {
    await using visitor = await still({ viewport: { width, height: 800 } });
    const page = await open("", visitor);
    await runIn(page);
    for (const colours of [
      { colorScheme: "light" },
      { colorScheme: "dark" },
      { forcedColors: "active" },
    ] as const) {
      await page.emulateMedia(colours);
      await page.evaluate(() =>
        Promise.all(document.getAnimations().map(({ finished }) => finished)),
      );
      expect([colours, await violationsOf(page)]).toEqual([colours, []]);
    }
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(page.problems).toEqual([]);
  });

  it.each([1280, 390])("moves nothing while it loads and runs, %i px wide", async (width) => {
    await using visitor = await newVisitor({ viewport: { width, height: 1_600 } });
    await visitor.addInitScript(() => {
      const moves: number[] = [];
      Object.assign(globalThis, { moves });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
          moves.push(entry.value);
      }).observe({ type: "layout-shift", buffered: true });
    });
    const page = await open("", visitor);
    await runIn(page);
    const moved = () => page.evaluate(() => (globalThis as unknown as { moves: number[] }).moves);
    expect((await moved()).reduce((sum, value) => sum + value, 0)).toBeLessThan(0.001);
  });

  it("is the first page to those who come by its address of before", async () => {
    await using page = await open(OLD);
    await page.waitForURL(url);
    await page.getByRole("heading", { level: 1, name: /count to ten/ }).waitFor();
    expect(await page.getByRole("banner").locator("[aria-current=page]").allTextContents()).toEqual(
      ["trpc-rate-limit"],
    );
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const without = await open(OLD, visitor);
    await without.waitForURL(url);
    expect([...page.problems, ...without.problems]).toEqual([]);
  });

  it("is a text with the verdicts without JavaScript, and has nothing to press", async () => {
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const page = await open("", visitor);
    // Playwright finds no roles and no texts in a noscript.
    const verdicts = page.locator(".count-text h3").filter({ visible: true });
    await verdicts.filter({ hasText: "Read, compare, write: 50 of 10" }).waitFor();
    await verdicts.filter({ hasText: "This package: 10 of 10" }).waitFor();
    const code = page.locator(".count-text pre").filter({ visible: true });
    expect(await code.first().textContent()).toContain("if (count >= 10) return false;");
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
  });

  it("is printed with its code, verdict and steps, and without its buttons", async () => {
    await using visitor = await still();
    const page = await open("", visitor);
    await runIn(page);
    await page.emulateMedia({ media: "print" });
    await page.getByRole("heading", { name: "50 of 10" }).waitFor();
    await page.getByText("This is the moment the eleventh got in.").waitFor();
    expect(await editorOf(page).isVisible()).toBe(true);
    const shown = page.locator(".count button").filter({ visible: true });
    expect(await shown.count()).toBe(0);
  });

  it.each([
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ])("has its editor, Run and the verdict on a first screen of $width px", async (viewport) => {
    await using visitor = await newVisitor({ viewport });
    const page = await open("", visitor);
    for (const seen of [
      page.getByRole("heading", { level: 1, name: /count to ten/ }),
      editorOf(page),
      page.getByRole("button", { name: "Run", exact: true }),
      page.getByRole("heading", { name: "?? of 10" }),
    ]) {
      const { y, height } = (await seen.boundingBox())!;
      expect(y + height).toBeLessThanOrEqual(viewport.height);
    }
  });
});

describe("a shared address", () => {
  it.each(["", OLD])("has the code and the seed, and gives the same run at %j", async (path) => {
    await using visitor = await still();
    const page = await open("", visitor);
    const code = `// ${"ä😀".repeat(20)}\nasync function allow(key, db) { return (await db.incr(key)) < 99 && Math.random() < 0.5 }`;
    await editorOf(page).fill(code);
    await press(page, "Run again");
    await press(page, "Share");
    await page.getByText("The address with this code and seed is copied.").waitFor();
    await press(page, "Close");
    const said = await runIn(page);
    const address = await page.evaluate(() => navigator.clipboard.readText());
    expect(address).toMatch(/^[^#]+\/#run=2\.[\w-]+$/);
    expect(address.startsWith(`${url}#`)).toBe(true);
    const other = await open(path + new URL(address).hash, visitor);
    await other.getByText("This code came with the address. Read it, then press Run.").waitFor();
    expect(await editorOf(other).inputValue()).toBe(code);
    expect(await runIn(other)).toBe(said);
    expect([...page.problems, ...other.problems]).toEqual([]);
  });

  it("runs nothing before a press on Run", async () => {
    await using visitor = await still();
    const page = await visitor.newPage();
    const started: string[] = [];
    page.on("worker", (worker) => started.push(worker.url()));
    const fragment = await fragmentOf({ code: "function allow() { return true }", seed: 4 });
    await page.goto(`${url}${fragment}`);
    await page.getByText("This code came with the address.").waitFor();
    await page.waitForLoadState("networkidle");
    expect([started, page.frames().length]).toEqual([[], 1]);
    expect(await runIn(page)).toMatch(/^50 of 10/);
    expect(started).toHaveLength(2);
    await expect.poll(() => page.frames().length).toBe(1);
  });
});

describe("Share", () => {
  /** Opens the dialog. @returns the dialog. */
  async function share(page: Page) {
    await press(page, "Share");
    const dialog = page.getByRole("dialog", { name: "Share this run" });
    await dialog.getByText("The address with this code and seed is copied.").waitFor();
    return dialog;
  }

  it.each([
    ["Read, compare, write", /: 50 of 10\. The eleventh got in after [\d.]+ ms, by process \d\./],
    ["This package", /: 10 of 10\. No eleventh got in\./],
  ])("has a picture of the run of %j to download and to copy", async (name, said) => {
    await using visitor = await still();
    const page = await open("", visitor);
    await press(page, name);
    await runIn(page);
    const dialog = await share(page);
    const image = dialog.getByRole("img");
    expect(await image.getAttribute("alt")).toContain(name);
    expect(await image.getAttribute("alt")).toMatch(said);

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("link", { name: "Download picture" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("count-to-ten.png");
    const file = readFileSync(await download.path());
    expect(file.subarray(0, 8)).toEqual(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"));
    expect(imageSizeOf("count-to-ten.png", file)).toEqual({ width: 1200, height: 630 });
    // Some services take no larger picture.
    expect(file.length).toBeLessThan(300_000);

    await press(page, "Copy picture");
    await dialog.getByText("The picture is copied.").waitFor();
    // How many pixels of the copied picture have the colours of a grant, and of one beyond the limit.
    const found = await page.evaluate(async () => {
      const [item] = await navigator.clipboard.read();
      const bitmap = await createImageBitmap(await item!.getType("image/png"));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d")!;
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const counts = { width: bitmap.width, granted: 0, over: 0 };
      for (let i = 0; i < data.length; i += 4) {
        const colour = data.slice(i, i + 3).join();
        if (colour === "95,211,159") counts.granted++;
        if (colour === "255,157,148") counts.over++;
      }
      return counts;
    });
    // Ten dots of 34 px have 9,000 pixels.
    expect(found).toMatchObject({ width: 1200 });
    expect(found.granted).toBeGreaterThan(8_000);
    if (name === "This package") expect(found.over).toBe(0);
    else expect(found.over).toBeGreaterThan(20_000);
    expect(page.problems).toEqual([]);
  });

  it("sends the picture with the address where the browser can", async () => {
    await using visitor = await still();
    await visitor.addInitScript(() => {
      Object.assign(navigator, {
        canShare: ({ files }: ShareData) => files?.[0]?.type === "image/png",
        async share(data: ShareData) {
          Object.assign(globalThis, { sent: { ...data, files: data.files!.map((f) => f.name) } });
        },
      });
    });
    const page = await open("", visitor);
    await runIn(page, "function allow() { return true }");
    const dialog = await share(page);
    await press(page, "Send…");
    await dialog.getByText("It is on its way.").waitFor();
    const sent = await page.evaluate(() => (globalThis as unknown as { sent: object }).sent);
    expect(sent).toEqual({
      files: ["count-to-ten.png"],
      title: expect.stringMatching(/^Can your rate limiter count to ten\?/),
      text: "My own code: 50 of 10",
      url: page.url(),
    });
  });

  it("has no picture of other code than that of the run", async () => {
    await using visitor = await still();
    const page = await open("", visitor);
    await runIn(page);
    await editorOf(page).fill("function allow() { return false }");
    const dialog = await share(page);
    await dialog.getByText("Run this code, and Share has a picture, too.").waitFor();
    expect(await dialog.getByRole("img").count()).toBe(0);
    await expect.poll(() => dialog.getByRole("button").allTextContents()).toEqual(["Close"]);
  });

  it.each([1280, 390])("has no barrier, and closes by Escape, %i px wide", async (width) => {
    await using visitor = await still({ viewport: { width, height: 800 } });
    const page = await open("", visitor);
    await runIn(page);
    const dialog = await share(page);
    await dialog.getByRole("img").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("count-share");
    expect(page.problems).toEqual([]);
  });
});

const allowing = (body: string) => `async function allow(key, db) { ${body} }`;

/** A server elsewhere, which answers all pages, and the paths that it was asked for. */
const asked: string[] = [];
const outside = createServer(({ url: path }, answer) => {
  asked.push(path!);
  answer.setHeader("access-control-allow-origin", "*");
  answer.setHeader("content-type", "text/javascript");
  answer.end("export {}");
});

describe("hostile code", () => {
  beforeAll(async () => {
    await new Promise<void>((resolve) => outside.listen(0, resolve));
  });
  afterAll(() => {
    outside.closeAllConnections();
    outside.close();
  });

  it.each([
    ["loops at once", "for (;;);", /did not answer for 2 s/],
    ["loops in a call", allowing("for (;;);"), /did not answer for 2 s/],
    [
      "loops after an await",
      allowing("await db.get(key); while (true);"),
      /did not answer for 2 s/,
    ],
    ["awaits without end", allowing("for (;;) await null;"), /did not answer for 2 s/],
    ["sends without end", allowing("for (;;) await db.incr(key);"), /more than 2000 statements/],
    ["sends all at once", allowing("for (;;) db.incr(key).catch(() => {});"), /did not answer/],
    ["calls fetch", allowing("await fetch('/')"), /fetch is not defined/],
    ["calls XMLHttpRequest", allowing("new XMLHttpRequest()"), /XMLHttpRequest is not defined/],
    ["posts", allowing("for (;;) postMessage('x')"), /postMessage is not defined/],
    ["posts by self", allowing("self.postMessage('x')"), /self is not defined/],
    ["closes itself", allowing("globalThis.close()"), /close is not a function/],
    ["imports scripts", "importScripts('/app/x.js'); function allow() {}", /importScripts is not/],
    ["imports a module", allowing("await import('http://localhost:PORT/x.js')"), /TypeError/],
    ["imports data", allowing("await import('data:text/javascript,1')"), /TypeError/],
    ["starts a worker", allowing("new Worker('data:,')"), /Worker is not defined/],
    ["opens storage", allowing("indexedDB.open('x')"), /indexedDB is not defined/],
    ["makes a huge text", allowing("await db.set(key, 'x'.repeat(2 ** 29 - 99))"), /at most 1000/],
    ["has a huge key", allowing("await db.get('x'.repeat(2 ** 28))"), /at most 200 letters/],
    [
      "throws a huge text",
      allowing("throw 'x'.repeat(2 ** 28)"),
      /Some calls failed: X+\.$|took too long|did not answer/,
    ],
    ["throws what cannot be told", "throw { toString() { throw 1 } }", /stopped/],
    [
      "says what it likes by a prototype",
      `JSON.stringify = () => '{"type":"events","ops":[],"ended":[],"__proto__":{"x":1}}'; function allow() {}`,
      /sent a message of its own/,
    ],
    [
      "pollutes prototypes",
      `Object.prototype.granted = 1; Array.prototype.push = () => 0; ${allowing("return true")}`,
      /stopped|too few/,
    ],
  ])("that %s is contained", { timeout: 40_000 }, async (_, code, why) => {
    await using visitor = await still();
    const page = await open("", visitor);
    const port = String((outside.address() as AddressInfo).port);
    expect(await runIn(page, code.replace("PORT", port))).toMatch(why);
    // The page lives, is itself, and runs the next code.
    expect(await page.evaluate(() => "granted" in {})).toBe(false);
    expect(page.frames()).toHaveLength(1);
    await press(page, "This package");
    expect(await runIn(page)).toMatch(/^10 of 10\. /);
    // Nothing has left the frame. The page itself could.
    expect(asked).toEqual([]);
    await page.evaluate((to) => fetch(`http://localhost:${to}/page`), port);
    expect(asked.splice(0)).toEqual(["/page"]);
  });

  it("finds a language, and nothing of a browser", async () => {
    await using visitor = await still();
    const page = await open("", visitor);
    const code = `
      const names = [];
      for (let at = globalThis; at !== null; at = Object.getPrototypeOf(at)) {
        names.push(...Object.getOwnPropertyNames(at));
      }
      const isKnown = /^(?:[A-Z]|is|parse|decodeURI|encodeURI|escape$|eval$|unescape$|constructor$)/;
      const isLeft = (name) =>
        globalThis[name] !== undefined && !isKnown.test(name) && !(name in AbortSignal.prototype);
      throw names.filter(isLeft).sort().join(" ");
    `;
    expect(await runIn(page, code)).toContain(
      ". ClearTimeout console createRateLimiter globalThis performance queueMicrotask setTimeout store.",
    );
  });
});

it("fits on a phone", async () => {
  await using visitor = await still({ viewport: PHONE });
  const page = await open("", visitor);
  await runIn(page);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});
