/** Other processes read a change by the time at which it was set, so that time must be the database's. */
import { expect, it, onTestFinished, vi } from "vitest";
import {
  createRateLimiter,
  HOUR,
  MINUTE,
  type RateLimitStore,
} from "../../../../../server/index.js";
import { stores } from "../../../../support/stores.js";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
const of = { key: "user" };

it.each(stores.filter(([name]) => name !== "memory"))(
  "a process whose machine is an hour behind, and that has asked nothing yet, is obeyed at once, on %s",
  async (name, open) => {
    const { store, peer, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    onTestFinished(() => void vi.restoreAllMocks());
    const make = (own: RateLimitStore) =>
      createRateLimiter({ store: own, limits, overrides: true, overridesFor: 0, timeout: 15_000 });
    const [limiter, behind] = [make(store), make(peer)];
    await limiter.overrides.set("few", { ...of, times: 2 });
    expect((await limiter.check("few", of)).ok).toBe(true);

    // SQLite has no clock but that of the process.
    const now = Date.now.bind(Date);
    const clock = vi.spyOn(Date, "now");
    if (!name.startsWith("SQLite")) clock.mockImplementation(() => now() - HOUR);
    await behind.overrides.set("few", { ...of, blocked: true });
    clock.mockRestore();
    expect((await limiter.check("few", of)).ok).toBe(false);
  },
);
