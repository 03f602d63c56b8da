/** The bar above every page of the site: the pages of the demo's parts, and the documentation. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSite, overflowOf, PHONE } from "../support/site.js";

let site: Awaited<ReturnType<typeof openSite>>;
let { open, newVisitor, url } = {} as typeof site;
beforeAll(async () => {
  site = await openSite();
  ({ open, newVisitor, url } = site);
});
afterAll(() => site.close());

const PAGES = ["", "playground/", "docs/", "docs/guides/vite", "docs/gone"];

/** The pieces of the bar with their places, and its links, in whole px. */
const barOf = (page: Page) =>
  page.getByRole("banner").evaluate((bar) => {
    const boxOf = (element: Element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height].map(Math.round);
    };
    const pieces = [".site-brand", ".site-search", ".site-menu", "[role=switch]", "li a"];
    return {
      bar: boxOf(bar),
      boxes: pieces.map((piece) => [...bar.querySelectorAll(piece)].map(boxOf)),
      links: [...bar.querySelectorAll<HTMLAnchorElement>("a:not(.site-search)")].map(
        ({ textContent, href }) => `${textContent} ${href}`,
      ),
      colours: [getComputedStyle(bar).color, getComputedStyle(bar).backgroundColor],
    };
  });

const menuOf = (page: Page) => page.getByRole("button", { name: "Menu", exact: true });

describe("the bar", () => {
  it.each([1280, 390, 320])("is the same on all pages, %i px wide", async (width) => {
    await using visitor = await newVisitor({ viewport: { width, height: 800 } });
    const [first, ...others] = await Promise.all(
      PAGES.map(async (path) => {
        const page = await open(path, visitor);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.getByRole("switch", { name: "Dark theme" }).waitFor();
        if (width < 800) await menuOf(page).click();
        const links = page.getByRole("navigation", { name: "Site" });
        await links.getByRole("link", { name: "Reference", exact: true }).waitFor();
        expect(await overflowOf(page)).toBeLessThanOrEqual(0);
        return barOf(page);
      }),
    );
    expect(first!.bar).toEqual([0, 0, width, 60]);
    expect(first!.links.map((link) => link.split(" ")[0])).toEqual(
      expect.arrayContaining(["trpc-rate-limit", "Docs", "Playground", "Reference"]),
    );
    for (const other of others) expect(other).toEqual(first);
  });

  it.each([1280, 320])("keeps the theme that is chosen on any page, %i px wide", async (width) => {
    await using visitor = await newVisitor({ viewport: { width, height: 800 } });
    const page = await open("docs/limits", visitor);
    const dark = (checked: boolean) => page.getByRole("switch", { name: "Dark theme", checked });
    await dark(false).click();
    for (const path of ["", "docs/limits", "playground/"]) {
      await page.goto(url + path);
      await dark(true).waitFor();
    }
    await dark(true).click();
    await page.goto(`${url}docs/limits`);
    await dark(false).waitFor();
    expect(await page.locator("html.dark").count()).toBe(0);
  });

  it("says which of its links the page belongs to", async () => {
    const current = async (path: string) => {
      await using page = await open(path);
      const links = page.getByRole("navigation", { name: "Site" }).locator("[aria-current]");
      return await links.allTextContents();
    };
    expect(await current("")).toEqual([]);
    expect(await current("playground/")).toEqual(["Playground"]);
    expect(await current("docs/limits")).toEqual(["Docs"]);
    expect(await current("docs/performance")).toEqual(["How fast"]);
    expect(await current("docs/reference/react/")).toEqual(["Reference"]);
  });

  it("opens the search of the documentation, also from the first page", async () => {
    await using page = await open("");
    await page.getByRole("link", { name: "Search" }).click();
    await page.getByRole("combobox", { name: "Search" }).fill("blockFor");
    await page.getByRole("option").filter({ hasText: "Closed buckets" }).first().click();
    await page.waitForURL(/docs\/closing/);
    expect(page.problems).toEqual([]);
  });
});

describe("on a phone", () => {
  it("closes its menu where a link or the history changes the hash alone", async () => {
    await using visitor = await newVisitor({ viewport: PHONE });
    for (const path of ["", "docs/"]) {
      const page = await open(path, visitor);
      const link = page.getByRole("link", { name: "Playground", exact: true });
      await menuOf(page).click();
      await link.waitFor();
      await page.evaluate(() => void (location.hash = "somewhere"));
      await link.waitFor({ state: "hidden" });
      await menuOf(page).click();
      await link.evaluate((each: HTMLAnchorElement) => void (each.href = "#elsewhere"));
      await link.click();
      await page.waitForURL(/#elsewhere$/);
      await link.waitFor({ state: "hidden" });
    }
  });

  it("closes the list of pages after a link to the page that is shown", async () => {
    await using visitor = await newVisitor({ viewport: PHONE });
    const page = await open("docs/limits#options", visitor);
    const drawer = page.locator(".VPSidebar.open");
    await page.getByRole("button", { name: "Pages", exact: true }).click();
    await drawer.getByRole("link", { name: "Limits", exact: true }).click();
    await page.waitForURL(/docs\/limits$/);
    await drawer.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Pages", exact: true }).click();
    await drawer.waitFor();
  });
});
