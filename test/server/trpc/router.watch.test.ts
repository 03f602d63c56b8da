import { describe, expect, it } from "vitest";
import type { RateLimitSnapshot } from "../../../core/index.js";
import { createRateLimiter, prismaStore } from "../../../server/index.js";
import { startApp } from "../../support/app.js";
import { soon } from "../../support/soon.js";

type App = Awaited<ReturnType<typeof startApp>>;
type Items = { name: "sendMessage" | "teamQuota"; key?: string }[];

/** Opens the stream as a user without a name, which is the user "". */
function watch(app: App, items: Items) {
  const seen: RateLimitSnapshot[] = [];
  const errors: { message: string; data: unknown }[] = [];
  const subscription = app.server.connect().rateLimit.watch.subscribe(
    { items },
    {
      onData: (snapshot) => seen.push(snapshot),
      onError: ({ message, data }) => errors.push({ message, data }),
    },
  );
  return {
    seen,
    errors,
    stop: () => subscription.unsubscribe(),
    [Symbol.dispose]: () => subscription.unsubscribe(),
  };
}

/**
 * Only the key of a team quota may be requested. Streams send no user, so the team is "team of ".
 */
const TEAM: Items = [{ name: "teamQuota", key: "team of " }];
const key = "team of ";

describe("watch", () => {
  it("yields a snapshot at once, and another after each change", async () => {
    await using app = await startApp();
    using stream = watch(app, TEAM);
    await soon(() => expect(stream.seen).toHaveLength(1));
    expect(stream.seen[0]).toMatchObject({ name: "teamQuota", key, value: 5, now: app.clock() });
    await app.limiter.limit("teamQuota", { key, count: 2 });
    await soon(() => expect(stream.seen.at(-1)).toMatchObject({ value: 3 }));
    await app.limiter.reset("teamQuota", { key });
    await soon(() => expect(stream.seen.at(-1)).toMatchObject({ value: 5 }));
    expect(stream.seen).toHaveLength(3);
  });

  it("yields the changes of another process within a tick", async () => {
    await using app = await startApp();
    using stream = watch(app, TEAM);
    await soon(() => expect(stream.seen).toHaveLength(1));
    const { limits, clock } = app.limiter;
    const other = createRateLimiter({ store: prismaStore(app.prisma), limits, clock });
    await other.limit("teamQuota", { key });
    await soon(() => expect(stream.seen.at(-1)).toMatchObject({ value: 4 }));
  });

  it("yields nothing while nothing changes", async () => {
    await using app = await startApp();
    using stream = watch(app, TEAM);
    await soon(() => expect(stream.seen).toHaveLength(1));
    app.clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(stream.seen).toHaveLength(1);
  });

  it("yields few snapshots for many changes, including the last one", async () => {
    await using app = await startApp();
    using stream = watch(app, TEAM);
    await soon(() => expect(stream.seen).toHaveLength(1));
    for (let i = 0; i < 5; i++) await app.limiter.limit("teamQuota", { key, count: 0.5 });
    await soon(() => expect(stream.seen.at(-1)).toMatchObject({ value: 2.5 }));
    expect(stream.seen.length).toBeLessThanOrEqual(4);
  });

  it("goes on after a failure of the database", async () => {
    await using app = await startApp();
    using stream = watch(app, TEAM);
    await soon(() => expect(stream.seen).toHaveLength(1));
    await app.prisma.$executeRaw`ALTER TABLE "RateLimit" RENAME TO "Away"`;
    await new Promise((resolve) => setTimeout(resolve, 250));
    await app.prisma.$executeRaw`ALTER TABLE "Away" RENAME TO "RateLimit"`;
    await app.limiter.limit("teamQuota", { key });
    await soon(() => expect(stream.seen.at(-1)).toMatchObject({ value: 4 }));
    expect(stream.errors).toEqual([]);
  });

  it("is rejected for a key that the caller may not read, and for more than 100 limits", async () => {
    await using app = await startApp();
    using other = watch(app, [{ name: "teamQuota", key: "team of ada" }]);
    await soon(() => expect(other.errors).toHaveLength(1));
    expect(other.errors[0]?.message).toContain("This caller may not use the requested key");
    using many = watch(
      app,
      Array.from({ length: 101 }, () => TEAM[0]!),
    );
    await soon(() => expect(many.errors).toHaveLength(1));
    expect(many.errors[0]?.message).toContain("Too big");
    expect([...other.seen, ...many.seen]).toEqual([]);
  });
});
