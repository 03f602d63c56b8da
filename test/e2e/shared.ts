/** What `global-setup.ts` has started. */
import { type Browser, chromium } from "playwright-core";
import { inject } from "vitest";

/**
 * For tests whose visitors are their own, and that do not stop it. All visitors share its window of
 * sign-ups, so tests that use it up have a demo of their own.
 */
export const demo = inject("demo");

/** The browser of this worker. Closing it closes what the test file has opened. */
export function openBrowser(): Promise<Browser> {
  return chromium.connect(inject("browsers")[Number(process.env["VITEST_POOL_ID"]) - 1]!);
}
