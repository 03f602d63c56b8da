/** The demo and the browsers that `global-setup.ts` has started. */
import { type Browser, chromium } from "playwright-core";
import { inject } from "vitest";

/**
 * A demo for tests that use visitors of their own and do not stop the demo. All visitors share its window
 * of sign-ups, so tests that use up the window start a demo of their own.
 */
export const demo = inject("demo");

/** The browser of this worker. Closing the browser closes what the test file has opened. */
export function openBrowser(): Promise<Browser> {
  return chromium.connect(inject("browsers")[Number(process.env["VITEST_POOL_ID"]) - 1]!);
}
