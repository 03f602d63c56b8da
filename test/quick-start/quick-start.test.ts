/** The quick start by hand, docs/guides/vite.md, followed in an empty folder by a program. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../support/chromium.js";
import { type Application, createApplication } from "./application.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

describe("the quick start by hand", () => {
  let application: Application;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    application = await createApplication();
    await mkdir(SCREENSHOTS, { recursive: true });
  });
  afterAll(async () => {
    await browser.close();
    await application[Symbol.asyncDispose]();
  });

  it("compiles", async () => {
    await expect(application.run("tsc", "-p", ".")).resolves.toBe("");
  });

  it("shows a countdown after three messages, and opens at its end", async () => {
    const url = await application.start();
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(url);
    for (const left of [3, 2, 1]) {
      await page.getByRole("button", { name: `Send (${left} left)`, exact: true }).click();
    }
    const waiting = page.locator("button", { hasText: /^Wait \d+s$/ });
    await waiting.waitFor();
    expect(await waiting.isDisabled()).toBe(true);
    await page.screenshot({ path: join(SCREENSHOTS, "countdown.png") });

    // A client that sends it anyway.
    const denied = await page.evaluate(async () => {
      const response = await fetch("/trpc/send", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: "Hello" }),
      });
      return [response.status, await response.json()] as [number, unknown];
    });
    expect(denied).toMatchObject([
      429,
      { error: { data: { rateLimit: { kind: "RateLimited", name: "sendMessage" } } } },
    ]);

    // On a slow machine, a second token may have come before this looks.
    const open = page.getByRole("button", { name: /^Send \([12] left\)$/ });
    await open.waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, "open.png") });
    const drain = async () => {
      if (await open.isVisible()) await open.click();
      return waiting.isVisible();
    };
    await expect.poll(drain, { timeout: 20_000 }).toBe(true);
    // The browser reports the 429 of the request above.
    expect(problems.filter((problem) => !problem.includes("429"))).toEqual([]);
    expect(problems.length).toBeLessThanOrEqual(1);
  });
});
