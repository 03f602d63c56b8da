import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
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
    "tells when a %s limit opens in this machine's time, within the round trip",
    async (name) => {
      await using mirror = await startMirror(LIMITS, { clock });
      await mirror.limiter.limit(name, { count: LIMITS[name].rate });
      const observer = mirror.observer();
      const startedAt = Date.now();
      observer.observe({ name }, 1, () => {});
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(false));
      const { retryAt } = observer.status({ name }, 1)!;
      const roundTrip = Date.now() - startedAt;

      const { retryAfter } = await mirror.limiter.check(name);
      const truth = Date.now() + retryAfter!;
      expect(Math.abs(retryAt! - truth)).toBeLessThanOrEqual(roundTrip + 2);
    },
  );

  it("turns ok by itself, and the server agrees, within the round trip", async () => {
    await using mirror = await startMirror(LIMITS, { clock });
    const observer = mirror.observer();
    const startedAt = Date.now();
    observer.observe(quick, 10, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
    await soon(() => expect(mirror.server.open("rateLimit.status")).toBe(0));
    const roundTrip = Date.now() - startedAt;
    await mirror.limiter.limit("quick", { count: 10 });
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(false));
    await soon(() => expect(observer.status(quick, 10)?.ok).toBe(true));
    const { retryAfter = 0 } = await mirror.limiter.check("quick", { count: 10 });
    expect(retryAfter).toBeLessThanOrEqual(roundTrip);
  });

  it("still tells the right time when only the stream answers", async () => {
    await using mirror = await startMirror(LIMITS, { clock });
    mirror.server.refuse("rateLimit.status");
    await mirror.limiter.limit("daily");
    const observer = mirror.observer();
    const startedAt = Date.now();
    observer.observe(daily, 1, () => {});
    await soon(() => expect(observer.status(daily, 1)?.ok).toBe(false));
    const elapsed = Date.now() - startedAt;
    const { retryAfter } = await mirror.limiter.check("daily");
    const truth = Date.now() + retryAfter!;
    const { retryAt } = observer.status(daily, 1)!;
    expect(Math.abs(retryAt! - truth)).toBeLessThanOrEqual(elapsed + 2);
  });
});

it("follows the server's clock when it is set back by an hour", async () => {
  const clock = createManualClock();
  let skew = HOUR;
  await using mirror = await startMirror(LIMITS, { clock: () => clock() + skew });
  const observer = mirror.observer({ clock, stream: false, pollInterval: 60_000 });
  observer.observe(daily, 1, () => {});
  await soon(() => expect(observer.status(daily, 1)?.ok).toBe(true));
  await settled(() => mirror.server.requests());
  skew = 0;
  await mirror.limiter.limit("daily");
  // The answer is of an earlier time than what is known, and yet it is the younger one.
  observer.refresh();
  const retryAt = clock() + 24 * HOUR;
  await soon(() => expect(observer.status(daily, 1)).toEqual({ ok: false, retryAt }));
});
