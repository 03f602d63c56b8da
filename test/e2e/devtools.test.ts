/** The devtools of the example: there in development, and nowhere in what is built. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type Axe from "axe-core";
import type { Browser } from "playwright-core";
import { createServer } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchChromium } from "../support/chromium.js";
import { startDemo } from "../support/demo.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** The example's page as Vite serves it in development. */
async function startVite(api: string) {
  const vite = await createServer({
    configFile: `${ROOT}example-app/vite.config.ts`,
    mode: "development",
    logLevel: "error",
    server: { port: 0, proxy: { "/trpc": api } },
  });
  await vite.listen();
  return {
    url: vite.resolvedUrls!.local[0]!,
    [Symbol.asyncDispose]: () => vite.close(),
  };
}

it.each(["light", "dark"] as const)(
  "shows in development what the page knows of its limits: %s",
  async (colorScheme) => {
    await using demo = await startDemo();
    await using vite = await startVite(demo.url);
    const visitor = await browser.newContext({ colorScheme });
    const page = await visitor.newPage();
    await page.goto(vite.url);
    await page.getByRole("button", { name: "Open TanStack Devtools" }).click();
    const panel = page.getByRole("region", { name: "Rate limits" });
    await page.getByText("Rate limits", { exact: true }).first().click();
    await panel.getByText("live", { exact: true }).waitFor();
    const limit = panel.getByRole("listitem").filter({ hasText: "sendMessage" });
    await limit.getByText("3 of 3").waitFor();
    await limit.getByText("token bucket: 10 per 1 min, holds 3").waitFor();
    for (let i = 0; i < 3; i++) {
      const sent = await visitor.request.post(`${vite.url}trpc/chat.send`, {
        data: { text: "hi", nonce: randomUUID() },
      });
      expect(sent.status()).toBe(200);
    }
    await limit.getByText(/^denied, ok in \d s$/).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}devtools-${colorScheme}.png` });
    await page.addScriptTag({ path: `${ROOT}node_modules/axe-core/axe.min.js` });
    const violations = await panel.evaluate(async (element) => {
      const { axe } = window as unknown as { axe: typeof Axe };
      return (await axe.run(element)).violations.map(({ id, nodes }) => [id, nodes.length]);
    });
    expect(violations).toEqual([]);
    await visitor.close();
  },
);

it("leaves nothing of them in the page that is built", async () => {
  const folder = `${ROOT}example-app/dist/`;
  const built = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".js"));
  expect(built.length).toBeGreaterThan(1);
  for (const file of built) {
    const code = await readFile(folder + file, "utf8");
    for (const text of [
      "trl-devtools",
      "Last round trip",
      "TanStackDevtools",
      "plugin-container",
    ]) {
      expect(code.includes(text), `${file} has ${text}`).toBe(false);
    }
  }
});
