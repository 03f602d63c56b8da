/** How statements begin: tools that watch a database name each one by its first word. */
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  HOUR,
  prismaStore,
  type RateLimitStore,
} from "../../../../server/index.js";
import { sharedDatabases } from "../../../support/database.js";
import { recordStatements } from "../../../support/record-statements.js";

const limits = {
  calls: { kind: "token bucket", rate: 5, period: HOUR, blockFor: HOUR },
  daily: { kind: "fixed window", rate: 50, period: 24 * HOUR },
  spread: { kind: "token bucket", rate: 50, period: HOUR, shards: 4 },
  jobs: { kind: "concurrency", slots: 2, ttl: 60_000 },
} as const;

const providers = sharedDatabases.filter(({ kind, provider }) => kind === provider);

describe.each(providers)("the statements on $name", ({ create }) => {
  it("begin with their verb, whatever the call", async () => {
    const database = await create();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const texts = new Set<string>();
    const store = prismaStore(recordStatements(database.prisma, texts)) as RateLimitStore<object>;
    const limiter = createRateLimiter({ store, limits, overrides: true, logger: false });
    const key = "ada";
    await limiter.limit("calls", { key, once: "1" });
    await Promise.all(["a", "b", "c"].map((each) => limiter.limit("daily", { key: each })));
    await Promise.all([1, 2, 3].map((count) => limiter.limit("daily", { key, count })));
    await limiter.limitAll([
      { name: "calls", key },
      { name: "daily", key },
    ]);
    await limiter.limit("spread", { count: 20 });
    await limiter.transaction(({ limit }) => limit("daily", { key }));
    await limiter.enter("jobs", { key });
    await limiter.overrides.set("daily", { key, times: 2 });
    await limiter.limit("daily", { key });
    await limiter.overrides.clear("daily", { key });
    await limiter.list("daily");
    await limiter.reset("calls", { key });
    await limiter.prune();
    await limiter.forget(key);
    expect(texts.size).toBeGreaterThan(10);
    const words = new Set(Array.from(texts, (text) => text.slice(0, text.indexOf(" "))));
    for (const word of words)
      expect(word).toMatch(/^(PRAGMA|SELECT|INSERT|UPDATE|DELETE|WITH|SET|LOCK)$/);
  });
});
