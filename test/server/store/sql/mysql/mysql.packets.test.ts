/** Batches are smaller than the packets that MySQL and MariaDB accept, by default 64 and 16 MB. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../../../../server/index.js";
import { createMysql, mysqlUrl } from "../../../../support/database.js";
import { openStore } from "../../../../support/open-store.js";

const limits = { posts: { kind: "token bucket", rate: 20, period: HOUR } } as const;
/** The longest keys: each takes 764 bytes. */
const longKey = (i: number) => `${"😀".repeat(93)}${String(i).padStart(5, "0")}`;

// Without a server, `test/server/store/sql/mysql/mysql.test.ts` reports a skipped test.
describe.skipIf(mysqlUrl === undefined)("mysqlStore", () => {
  async function open() {
    const database = await createMysql();
    const opened = openStore("mysql2", database.url);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => opened.close());
    const store = opened.store as RateLimitStore;
    return createRateLimiter({ store, limits, timeout: 15_000, logger: false });
  }

  it("answers more calls that only read than one packet can hold", async () => {
    const limiter = await open();
    const calls = Array.from({ length: 50_000 }, (_, i) =>
      limiter.check("posts", { key: longKey(i) }),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(50_000);
  });
});
