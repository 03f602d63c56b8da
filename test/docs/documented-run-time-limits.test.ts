/** The recipe of limits that are known at run time, as it stands on the page, and what it says beside. */
import { expect, it, onTestFinished, vi } from "vitest";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitConfig,
} from "../../server/index.js";
import { importBlock } from "../support/docs-module.js";

const PAGE = "docs/recipes.md";
const T = Date.UTC(2030, 0, 10);
const aMinute = (rate: number) => ({ kind: "token bucket", rate, period: MINUTE }) as const;

interface ByRoute {
  fromTable: Map<string, RateLimitConfig>;
  limiter: { prune(): Promise<number> };
  take(route: string, userId: string): Promise<{ ok: boolean; value: number }>;
}

/** The page's code, with the imports that it leaves out, on a clock that the test moves. */
async function open(): Promise<ByRoute> {
  vi.useFakeTimers({ toFake: ["Date"], now: T });
  onTestFinished(() => void vi.useRealTimers());
  const before =
    'import { createRateLimiter, DAY, memoryStore } from "trpc-rate-limit/server";\n' +
    "const store = memoryStore();\nexport const fromTable = new Map();\n";
  return importBlock<ByRoute>(
    PAGE,
    "server/by-route.ts",
    (code) => before + code.replaceAll(/^const /gm, "export const "),
  );
}

it("limits each route and user by the table, and others by the limit's own config", async () => {
  const { fromTable, take } = await open();
  fromTable.set("/search", aMinute(1));
  expect(await take("/search", "ann")).toMatchObject({ ok: true });
  expect(await take("/search", "ann")).toMatchObject({ ok: false });
  expect(await take("/search", "bob")).toMatchObject({ ok: true });
  expect(await take("/other", "ann")).toMatchObject({ ok: true, value: 999 });
});

it("obeys another number of the table at once, and what was used stays used", async () => {
  const { fromTable, take } = await open();
  fromTable.set("/search", aMinute(1));
  await take("/search", "ann");
  fromTable.set("/search", aMinute(10));
  expect(await take("/search", "ann")).toMatchObject({ ok: true, value: 8 });
});

it("prunes a row once it is full by the limit's own config", async () => {
  const { fromTable, limiter, take } = await open();
  fromTable.set("/search", aMinute(1));
  await take("/search", "ann");
  vi.setSystemTime(T + HOUR);
  expect((await take("/search", "ann")).ok).toBe(true);
  vi.setSystemTime(T + 3 * DAY);
  expect(await limiter.prune()).toBe(1);
});

it("makes a limiter of names from a table, and another one on its store after a change", async () => {
  const store = memoryStore();
  const clock = createManualClock();
  const openWith = (rate: number) => {
    const limits: Record<string, RateLimitConfig> = { "/search": aMinute(rate) };
    return createRateLimiter({ store, clock, limits });
  };
  const route: string = "/search";
  await openWith(1).limit(route, { key: "ann" });
  expect(await openWith(1).limit(route, { key: "ann" })).toMatchObject({ ok: false });
  expect(await openWith(10).limit(route, { key: "ann" })).toMatchObject({ ok: true, value: 8 });
  await expect(openWith(1).limit("/other", { key: "ann" })).rejects.toThrow(/unknown rate limit/);
});

it("takes any name with a config, whose rows are neither listed nor pruned", async () => {
  const clock = createManualClock();
  const limits = { few: aMinute(1) };
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
  const name: string = "a name of the table";
  const call = () => limiter.limit(name, { key: "ann", config: aMinute(1) });
  expect([(await call()).ok, (await call()).ok]).toEqual([true, false]);
  await expect(limiter.list(name as "few")).rejects.toThrow(/unknown rate limit/);
  clock.advance(3 * DAY);
  expect(await limiter.prune()).toBe(0);
});

it("shares rows among limiters on one store", async () => {
  const store = memoryStore();
  const limits = { few: aMinute(1) };
  const tenants = ["a", "b"].map(() => createRateLimiter({ store, limits }));
  const answers = [];
  for (const limiter of tenants) answers.push((await limiter.limit("few", { key: "ann" })).ok);
  expect(answers).toEqual([true, false]);
});
