/** The demo's links from part to part, as a visitor finds them. */
import type { Locator, Page } from "playwright-core";

export const GROUPS = {
  Try: ["Overview", "Chat", "Log in", "Ask the model", "Sign-ups"],
  Prove: ["The race", "Two visitors", "Playground"],
  Operate: ["Control room", "Behind it"],
} as const;

export const PARTS = [...GROUPS.Try, ...GROUPS.Prove, ...GROUPS.Operate] as const;

export const partLink = (page: Page, name: string): Locator =>
  page.getByRole("link", { name, exact: true });

/** The group of a part. In a wide window, a visitor sees the links of one group. */
export const groupOf = (part: string): string =>
  Object.entries(GROUPS).find(([, parts]) => (parts as readonly string[]).includes(part))![0];

/** In a narrow window, the links are in a menu. */
export const partMenu = (page: Page): Locator =>
  page.getByRole("button", { name: "Parts of the demo" });

/** Follows the link to a part, and those that lead to it. The part may still be loading afterwards. */
export async function followPartLink(page: Page, part: string): Promise<void> {
  if (await partMenu(page).isVisible()) await partMenu(page).click();
  else if (!(await partLink(page, part).isVisible())) {
    await partLink(page, groupOf(part)).click();
  }
  await partLink(page, part).click();
}
