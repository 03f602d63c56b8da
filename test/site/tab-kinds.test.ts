import { expect, it } from "vitest";
import { readPages } from "../../site/pages.js";
import { tabKindOf } from "../../site/tab-kinds.js";

it.each([
  [["Prisma", "Drizzle", "Kysely", "pg"], "Store"],
  [["Prisma", "pg"], "Store"],
  [["tRPC", "fetch"], "Client"],
  [["npm", "pnpm", "yarn", "bun"], "Package manager"],
])("knows what is chosen by %j", (labels, kind) => {
  expect(tabKindOf(labels)).toBe(kind);
});

it("refuses labels of no kind, or of two", () => {
  expect(() => tabKindOf(["Prisma", "fetch"])).toThrow("has no kind for Prisma, fetch");
  expect(() => tabKindOf(["Deno"])).toThrow("has no kind for Deno");
});

it("has a kind for the tabs of each page", async () => {
  const found = (await readPages()).flatMap(({ text }) =>
    [...text.matchAll(/^<!-- tabs: (.+) -->$/gm)].map(([, labels]) => labels!.split(", ")),
  );
  expect(found.length).toBeGreaterThan(10);
  for (const labels of found) expect(tabKindOf(labels)).toBeTruthy();
});
