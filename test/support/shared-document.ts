/** Cleans up after each file of tests that share a document. */
import { cleanup } from "@testing-library/react";
import { afterAll } from "vitest";

/** Of Vitest's environment. */
const page = globalThis as unknown as Partial<Window> & { jsdom: { window: Window } };
for (const name of ["localStorage", "sessionStorage"] as const) {
  // Node.js 26 has these names without a value, and Vitest keeps them in place of the page's.
  if (page[name] === undefined) {
    Object.defineProperty(page, name, { configurable: true, value: page.jsdom.window[name] });
  }
}

afterAll(() => {
  cleanup();
  localStorage.clear();
  sessionStorage.clear();
});
