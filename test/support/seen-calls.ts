/**
 * Presses of the overview's button, and what pages show of them. A token comes back every two seconds, so
 * on a busy machine a number may be gone before a test looks: the pages themselves note what they show.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** @returns what the page has shown since: numbers such as "4 of 5", and "waits". */
async function noteCalls(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(globalThis, { seen });
    const card = document.querySelector(".overview .try")!;
    const note = () => {
      const count = /\d of 5/.exec(card.querySelector(".left")!.textContent)?.[0];
      if (count !== undefined) seen.add(count);
      if (card.querySelector("button")!.textContent.startsWith("Wait")) seen.add("waits");
    };
    new MutationObserver(note).observe(card, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
  });
  return () => page.evaluate(() => [...(globalThis as unknown as { seen: Set<string> }).seen]);
}

/** All presses at once, so that no token comes back meanwhile. */
export const pressSend = (page: Page, times: number): Promise<void> =>
  page.getByRole("button", { name: /^Send/ }).evaluate((button: HTMLElement, presses) => {
    for (let i = 0; i < presses; i++) button.click();
  }, times);

/**
 * Presses in each of two pages in turn.
 *
 * @param waits whether both pages have one server process, and so wait together. On SQLite, a process
 *   hears of the calls of another one a moment later, and the wait may be over then.
 * @throws unless both pages show each press.
 */
export async function expectOneBucket(first: Page, second: Page, waits = true): Promise<void> {
  const pages = [first, second];
  for (const pressed of pages) {
    for (const page of pages) await page.getByText("You have 5 of 5 calls left").waitFor();
    const seen = await Promise.all(pages.map(noteCalls));
    const all = () => Promise.all(seen.map((each) => each()));
    const showing = (text: string) => pages.map(() => expect.arrayContaining([text]) as unknown);
    await pressSend(pressed, 1);
    await expect.poll(all).toEqual(showing("4 of 5"));
    if (!waits) continue;
    await pressSend(pressed, 6);
    await expect.poll(all).toEqual(showing("waits"));
  }
}
