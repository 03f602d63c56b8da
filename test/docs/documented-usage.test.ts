/** The SQL on the page about usage. */
import { expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { openStore } from "../support/open-store.js";
import { blocksOf, readPage } from "./pages.js";

it("sums up all keys of a month, and all of them together, as limiter.usage does", async () => {
  const sql = blocksOf(await readPage("docs/usage.md")).find(({ language }) => language === "sql");
  await using database = await createPostgres();
  const { store, close } = openStore("pg", database.url);
  const clock = createManualClock(Date.UTC(2030, 2, 31));
  const limits = {
    llmTokens: { kind: "fixed window", rate: 1000, period: "month", start: 0, usage: true },
  } as const;
  const limiter = createRateLimiter({ store, limits, clock });
  const keys = ["ann", "a|1", "a\\", "7"];
  for (const at of [Date.UTC(2030, 2, 31), Date.UTC(2030, 3, 1), Date.UTC(2030, 3, 30, 23, 59)]) {
    clock.set(at);
    for (const [i, key] of keys.entries()) {
      const result = await limiter.limit("llmTokens", { key, count: 100 + i });
      await limiter.settle(result, 90);
      await limiter.limit("llmTokens", { key });
      await limiter.limit("llmTokens", { key, count: 999 });
    }
  }
  await limiter.flushUsage();
  const rows = await database.prisma.$queryRawUnsafe<Record<string, unknown>[]>(sql!.code);
  const found = new Map(
    rows.map(({ who, ...counts }) => [
      who,
      Object.fromEntries(Object.entries(counts).map(([what, count]) => [what, Number(count)])),
    ]),
  );
  const span = { from: Date.UTC(2030, 3, 1), to: Date.UTC(2030, 4, 1) };
  for (const key of [undefined, ...keys]) {
    const { total } = await limiter.usage("llmTokens", { ...(key && { key }), ...span });
    const { granted, denied, taken, givenBack } = total;
    expect(denied).toBeGreaterThan(0);
    // A bar and a backslash of a key have a backslash before them.
    const who = (key ?? "").replaceAll(/[\\|]/g, "\\$&");
    expect([who, found.get(who)]).toEqual([who, { granted, denied, taken, given_back: givenBack }]);
  }
  expect(found.size).toBe(keys.length + 1);
  await close();
});
