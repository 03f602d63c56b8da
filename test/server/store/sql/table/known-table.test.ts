import { afterEach, expect, it, vi } from "vitest";
import { knownTable } from "../../../../../server/store/sql/table/known-table.js";

afterEach(() => void vi.unstubAllGlobals());

const onWorkers = () => vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
const table = { name: "RateLimit", schema: undefined };
const driver = (database: string | object | undefined) =>
  ({ dialect: "postgresql", database }) as const;

it("a process keeps what a store knows to that store, but for bindings", () => {
  expect(knownTable(driver("db"), table)).not.toBe(knownTable(driver("db"), table));
  const binding = {};
  expect(knownTable(driver(binding), table)).toBe(knownTable(driver(binding), table));
});

it.each([
  ["a text", "db"],
  ["a binding", {}],
])("on Cloudflare Workers, stores of one database share what they know (%s)", (_, database) => {
  onWorkers();
  const known = knownTable(driver(database), table);
  expect(knownTable(driver(database), table)).toBe(known);
  expect(knownTable(driver(database), { ...table, schema: "other" })).not.toBe(known);
  expect(knownTable(driver("another"), table)).not.toBe(known);
  expect(knownTable(driver({}), table)).not.toBe(known);
});

it("on Cloudflare Workers, drivers that do not name their database share nothing", () => {
  onWorkers();
  const unnamed = driver(undefined);
  expect(knownTable(unnamed, table)).not.toBe(knownTable(unnamed, table));
});

it("forgets databases beyond the first hundred, the oldest ones first", () => {
  onWorkers();
  const first = knownTable(driver("first"), table);
  for (let i = 0; i < 100; i++) knownTable(driver(`many ${i}`), table);
  expect(knownTable(driver("first"), table)).not.toBe(first);
});
