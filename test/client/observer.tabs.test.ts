/** One limit on several visitors' pages, and through an outage, over HTTP. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { HOUR, MINUTE } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { settled, soon } from "../support/soon.js";

const LIMITS = {
  bucket: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  windowed: { kind: "fixed window", rate: 4, period: HOUR },
} as const;

describe.concurrent("two tabs of one visitor", () => {
  it("agree with each other and with the server, even if their clocks do not", async () => {
    const clock = createManualClock();
    await using app = await startLimitServer(LIMITS, { clock });
    const [ahead, behind] = [() => clock() + HOUR, () => clock() - HOUR];
    const tabs = [ahead, behind].map((local) => ({
      local,
      observer: app.observer({ clock: local }),
    }));
    const item = { name: "bucket" };
    for (const { observer } of tabs) observer.observe(item, 1, () => {});
    await soon(() => {
      for (const { observer } of tabs) expect(observer.connection).toBe("live");
    });
    await settled(() => app.server.open("rateLimit.status"));
    // The first page sends; the second page receives the change.
    tabs[0]!.observer.debit(item, 3);
    await app.limiter.limit("bucket", { count: 3 });
    for (const { observer, local } of tabs) {
      const expected = { ok: false, retryAt: local() + 6000 };
      await soon(() => expect(observer.status(item, 1)).toEqual(expected));
    }
    clock.advance(6000);
    for (const { observer } of tabs) {
      expect(observer.status(item, 1)).toEqual({ ok: true });
      expect(observer.status(item, 2)?.ok).toBe(false);
    }
  });
});

describe.concurrent("a stream that dies and comes back", () => {
  it("delivers all changes of the meantime, with an hour between the clocks", async () => {
    await using app = await startLimitServer(LIMITS, { clock: () => Date.now() - HOUR });
    const observer = app.observer({ pollInterval: 60_000 });
    const item = { name: "windowed" };
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    await app.server.kill();
    await soon(() => expect(observer.connection).toBe("offline"));
    await app.limiter.limit("windowed", { count: 4 });
    await app.server.restart();
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    const { retryAfter } = await app.limiter.check("windowed");
    const expectedAt = Date.now() + retryAfter!;
    await soon(() => {
      expect(Math.abs(observer.status(item, 1)!.retryAt! - expectedAt)).toBeLessThan(1000);
    });
  });
});
