/** Looks for barriers in a page, with axe-core. */
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

interface Violation {
  id: string;
  nodes: { target: string[] }[];
}

/** @returns a line for each element that breaks a rule. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve("axe-core/axe.min.js") });
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => `${id}: ${target.join(" ")}`),
  );
}
