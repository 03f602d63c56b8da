/** What the guides say of results: the fields of other limiters, and what they are of a result here. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { MINUTE, SECOND } from "../../core/durations.js";
import { resetAt } from "../../core/index.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";
import { readPage } from "../docs/pages.js";
import { importCode } from "../support/docs-module.js";
import {
  hasOtherLimiters,
  NO_OTHER_LIMITERS,
  rateLimiterFlexible,
  upstashOn,
} from "./other-limiters.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";
import { startUpstash, type UpstashServer } from "./upstash-server.js";

const missing = missingForRedis() ?? (hasOtherLimiters ? undefined : NO_OTHER_LIMITERS);
const T = Date.UTC(2030, 0, 10);
const key = "ann";
const limits = { few: { kind: "fixed window", rate: 3, period: MINUTE, start: T } } as const;

/** A limiter here. Resolves with a function that says what the page makes of its next result. */
async function here(page: string) {
  const { text } = await readPage(page);
  const rows = text.slice(text.indexOf("## A result")).matchAll(/^\| (.+?) +\| `([^`]+)`/gm);
  const fields = [...rows].map(([, field, code]) => `${JSON.stringify(field)}: ${code},`);
  const { read } = await importCode<{ read(names: object): Record<string, unknown> }>(
    `export const read = (${NAMES}) => ({ ${fields.join("\n")} })`,
  );
  const limiter = createRateLimiter({ store: memoryStore(), clock: Date.now, limits });
  const config = limiter.configOf("few", { key });
  return async () => {
    const result = await limiter.limit("few", { key });
    return read({ ...result, result, config, now: limiter.clock(), resetAt });
  };
}
const NAMES = "{ ok, value, retryAfter, remembered, storeFailed, result, config, now, resetAt }";

describe.runIf(missing !== undefined)("results of other limiters", () => {
  it("are those of the guides", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("results of other limiters", () => {
  let server: RedisServer;
  let upstash: UpstashServer;
  beforeAll(async () => {
    server = await startRedis();
    upstash = await startUpstash(server.port);
  });
  afterAll(async () => {
    await upstash.close();
    await server.stop();
  });
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: T }));
  afterEach(() => void vi.useRealTimers());

  it("are told of a grant and of a denial as by rate-limiter-flexible", async () => {
    const next = await here("docs/guides/from-rate-limiter-flexible.md");
    const { RateLimiterMemory } = rateLimiterFlexible();
    const old = new RateLimiterMemory({ points: 3, duration: 60 });
    for (let i = 0; i < 4; i++) {
      const was = await old
        .consume(key)
        .catch((denial: Awaited<ReturnType<typeof old.consume>>) => denial);
      const is = await next();
      expect(is["`remainingPoints`"]).toBe(was.remainingPoints);
      expect(is[`\`msBeforeNext\` of a ${i < 3 ? "grant" : "denial"}`]).toBe(was.msBeforeNext);
      if (i < 3) expect(is["`consumedPoints`"]).toBe(was.consumedPoints);
      vi.setSystemTime(Date.now() + 7 * SECOND);
    }
  });

  it("are told of a grant and of a denial as by Upstash", async () => {
    const next = await here("docs/guides/from-upstash.md");
    const { Ratelimit, open } = upstashOn(upstash);
    const old = open(Ratelimit.fixedWindow(3, "1 m"));
    for (let i = 0; i < 4; i++) {
      const was = await old.limit(key);
      const is = await next();
      expect(was.success).toBe(i < 3);
      expect(is["`success`"]).toBe(was.success);
      expect(is["`limit`"]).toBe(was.limit);
      expect(is["`remaining`"]).toBe(was.remaining);
      expect(is[`\`reset\` of a ${i < 3 ? "grant" : "denial"}`]).toBe(was.reset);
      vi.setSystemTime(Date.now() + 7 * SECOND);
    }
  });
});
