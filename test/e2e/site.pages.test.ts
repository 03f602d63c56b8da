/** The surroundings of the site's pages: the list of pages, and the preview of a link to a page. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { preview } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PICTURE_SIZE, PICTURES } from "../../site/head-tags.js";
import { imageSizeOf } from "../../site/image-size.js";
import { DIST, openSite } from "../support/site.js";

let site: Awaited<ReturnType<typeof openSite>>;
let { open, newVisitor } = {} as typeof site;
beforeAll(async () => {
  site = await openSite();
  ({ open, newVisitor } = site);
});
afterAll(() => site.close());

describe("the list of pages", () => {
  it("has the group of the page open, and keeps open what was opened", async () => {
    await using page = await open("docs/limits");
    const list = page.getByRole("navigation", { name: "Sidebar Navigation" });
    const titles = list.locator(".side-groups > details > summary");
    const group = (name: string) =>
      list.locator(".side-groups > details", { has: page.locator("summary", { hasText: name }) });
    await list.getByRole("link", { name: "Limits", exact: true, includeHidden: false }).waitFor();
    expect(await list.locator("[aria-current=page]").allTextContents()).toEqual(["Limits"]);
    expect(await list.locator(".side-groups > details[open]").count()).toBe(1);
    const names = await titles.allTextContents();
    expect(names.slice(0, 1).concat(names.slice(-2))).toEqual([
      "Get started",
      "Guides",
      "Reference",
    ]);

    await titles.filter({ hasText: "Guides" }).focus();
    await page.keyboard.press("Enter");
    await list.getByRole("link", { name: "Plans", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Plans" }).waitFor();
    expect(await titles.allTextContents()).toEqual(names);
    expect(await list.locator(".side-groups > details[open]").count()).toBe(2);
    expect(await list.locator("[aria-current=page]").allTextContents()).toEqual(["Plans"]);

    await titles.filter({ hasText: "Reference" }).click();
    const pages = group("Reference").locator(".side-pages");
    const shown = group("Reference").getByRole("link").filter({ visible: true });
    expect(await shown.allTextContents()).toEqual(["Every name"]);
    await pages.locator("summary", { hasText: "server" }).click();
    await pages.getByRole("link", { name: "createRateLimiter", exact: true }).click();
    await page.waitForURL(/docs\/reference\/server\/createRateLimiter/);
    expect(await list.locator(".side-pages[open]").count()).toBe(1);
    expect(await titles.allTextContents()).toEqual(names);
    expect(await list.locator(".side-groups > details[open]").count()).toBe(3);
    expect(page.problems).toEqual([]);
  });

  it("shows the place of a page that is far below", async () => {
    await using page = await open("docs/guides/from-convex");
    const shown = page.locator(".VPSidebar [aria-current=page]");
    await expect
      .poll(async () => {
        const { y, height } = (await shown.boundingBox())!;
        return y > 60 && y + height < 800;
      })
      .toBe(true);
  });

  it("opens its groups without JavaScript, and leads on by names of the field", async () => {
    await using visitor = await newVisitor({ javaScriptEnabled: false });
    const page = await open("docs/limits", visitor);
    const list = page.locator(".VPSidebar");
    await list.getByRole("link", { name: "Limits", exact: true }).waitFor();
    await list.locator("summary", { hasText: "Get started" }).click();
    await list.getByRole("link", { name: "CLI", exact: true }).click();
    await page.waitForURL(/docs\/cli$/);
    const pager = page.locator(".VPDocFooter");
    await pager.getByRole("link", { name: /^Previous/ }).waitFor();
    await pager.getByRole("link", { name: /^Next/ }).waitFor();
  });
});

const FILES = readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".html") && file !== "404.html",
);

describe("a link to a page", () => {
  it("is shown with a title, a sentence and a picture of its own page", () => {
    const names = ["title", "description", "image", "site_name"];
    const problems: string[] = [];
    const sentences = FILES.map((file) => {
      const html = readFileSync(join(DIST, file), "utf8");
      const [, sentence] = /<meta\s+name="description"\s+content="([^"]+)"/.exec(html) ?? [];
      for (const name of names) {
        const found = html.match(new RegExp(`property="og:${name}" content="([^"]+)"`, "g")) ?? [];
        if (found.length !== 1) problems.push(`${file} has ${found.length} og:${name}`);
        if (name === "description" && !found[0]?.includes(`"${sentence}"`))
          problems.push(`${file} has two descriptions`);
      }
      return sentence;
    });
    expect(problems).toEqual([]);
    const own = sentences.filter((_, i) => !FILES[i]!.includes("reference/"));
    expect(new Set(own).size).toBe(own.length);
  });

  it("has a picture of the size that is told", () => {
    for (const { file } of Object.values(PICTURES)) {
      const png = readFileSync(join(DIST, file));
      expect(imageSizeOf(file, png)).toEqual(PICTURE_SIZE);
      // Some services take no larger picture.
      expect(png.length).toBeLessThan(300_000);
    }
  });
});

it("has its heading on the first page without JavaScript, and the same one with it", async () => {
  await using visitor = await newVisitor({ javaScriptEnabled: false });
  const page = await open("", visitor);
  const heading = await page.getByRole("heading", { level: 1 }).textContent();
  expect(await page.getByRole("switch").count()).toBe(0);
  await using alive = await open("");
  await alive.getByRole("heading", { name: /^Limit calls exactly/ }).scrollIntoViewIfNeeded();
  await alive.getByText(/^\d of \d$/).waitFor();
  expect(await alive.getByRole("heading", { level: 1 }).allTextContents()).toEqual([heading]);
});

it("says without JavaScript, too, that a page is missing", async () => {
  await using visitor = await newVisitor({ javaScriptEnabled: false });
  const page = await open("docs/gone", visitor);
  await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { level: 1, name: /./ }).waitFor();
});

it("finds a page whose address has a slash too many", async () => {
  await using page = await open("docs/limits/");
  await page.getByRole("heading", { level: 1, name: "Limits" }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/docs\/limits$/);
});

it("is previewed with the status of a missing page", async () => {
  const configFile = fileURLToPath(new URL("../../site/app/vite.config.ts", import.meta.url));
  const server = await preview({ configFile, logLevel: "silent", preview: { port: 0 } });
  try {
    const [root] = server.resolvedUrls!.local;
    const statusOf = async (path: string) => (await fetch(root + path)).status;
    const paths = ["", "docs/limits", "playground/", "picture.png", "docs/gone", "gone.js"];
    expect(await Promise.all(paths.map(statusOf))).toEqual([200, 200, 200, 200, 404, 404]);
  } finally {
    await server.close();
  }
});
