/** Looks for barriers in a page, with axe-core. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** @returns a line for each element that breaks a rule. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => {
      const [why] = any;
      return `${id}: ${target.join(" ")}${why === undefined ? "" : ` (${why.message})`}`;
    }),
  );
}
