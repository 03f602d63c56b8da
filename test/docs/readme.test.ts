/** The order of the commands in README.md. */
import { expect, it } from "vitest";
import { readPage } from "./pages.js";

const readme = await readPage("README.md");

it("names set-up, demo and tests together, before all else that is to be typed", () => {
  const [first] = readme.text.matchAll(/^```(\w+)\n([^]*?)^```$/gm);
  const [, language, code] = first!;
  expect(language).toBe("sh");
  const typed = code!.split("\n").flatMap((line) => line.replace(/#.*/, "").trim() || []);
  expect(typed).toEqual(["npm ci && npm test", "npm ci && npm run demo"]);
  // Each line works in a clone that has run nothing else.
  const above = readme.text.slice(0, first!.index);
  expect(above).not.toMatch(/`(?:npm|npx|node|git) |^(?: {4}|\t)/m);
});
