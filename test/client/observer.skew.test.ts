import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { settled, soon } from "../support/soon.js";

const daily = { name: "daily" };
const quick = { name: "quick" };
const LIMITS = {
  daily: { kind: "token bucket", rate: 1, period: 24 * HOUR },
  windowed: { kind: "fixed window", rate: 2, period: 24 * HOUR },
  quick: { kind: "token bucket", rate: 10, period: SECOND, capacity: 10 },
} as const;

describe.concurrent.each([
  ["an hour ahead", HOUR],
  ["an hour behind", -HOUR],
  ["right", 0],
])("with the server's clock %s", (_, skew) => {
  const clock = () => Date.now() + skew;

  it.each(["daily", "windowed"] as const)(
    "says when a %s limit is available in this machine's time, within the round trip",
    async (name) => {
      await using app = await startLimitServer(LIMITS, { clock });
      await app.limiter.limit(name, { count: LIMITS[name].rate });
      const observer = app.observer();
      const startedAt = Date.now();
      observer.observe({ name }, 1, () => {});
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(false));
      const { retryAt } = observer.status({ name }, 1)!;
      const roundTrip = Date.now() - startedAt;

      const { retryAfter } = await app.limiter.check(name);
      const expectedAt = Date.now() + retryAfter!;
      expect(Math.abs(retryAt! - expectedAt)).toBeLessThanOrEqual(roundTrip + 2);
    },
  );

  it("turns ok by itself, and the server agrees, within the round trip", async () => {
    await using app = await startLimitServer(LIMITS, { clock });
    const observer = app.observer();
    const startedAt = Date.now();
    observer.observe(quick, 10, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
    await soon(() => expect(app.server.open("rateLimit.status")).toBe(0));
    const roundTrip = Date.now() - startedAt;
    await app.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(false));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
    const { retryAfter = 0 } = await app.limiter.check("quick", { count: 10 });
    expect(retryAfter).toBeLessThanOrEqual(roundTrip);
  });

  it("still says the right time when only the stream answers", async () => {
    await using app = await startLimitServer(LIMITS, { clock });
    app.server.block("rateLimit.status");
    await app.limiter.limit("daily");
    const observer = app.observer();
    const startedAt = Date.now();
    observer.observe(daily, 1, () => {});
    await soon(() => expect(observer.status(daily, 1)?.ok).toBe(false));
    const elapsed = Date.now() - startedAt;
    const { retryAfter } = await app.limiter.check("daily");
    const expectedAt = Date.now() + retryAfter!;
    const { retryAt } = observer.status(daily, 1)!;
    expect(Math.abs(retryAt! - expectedAt)).toBeLessThanOrEqual(elapsed + 2);
  });
});

it("follows the server's clock when it is set back by an hour", async () => {
  const clock = createManualClock();
  let skew = HOUR;
  await using app = await startLimitServer(LIMITS, { clock: () => clock() + skew });
  const observer = app.observer({ clock, stream: false, pollInterval: 60_000 });
  observer.observe(daily, 1, () => {});
  await soon(() => expect(observer.status(daily, 1)?.ok).toBe(true));
  await settled(() => app.server.requests());
  skew = 0;
  await app.limiter.limit("daily");
  // The answer has an earlier time than the known snapshot, but it is newer.
  observer.refresh();
  const retryAt = clock() + 24 * HOUR;
  await soon(() => expect(observer.status(daily, 1)).toEqual({ ok: false, retryAt }));
});
