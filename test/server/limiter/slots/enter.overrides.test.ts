import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  generations: { kind: "concurrency", slots: 1 },
  tokens: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;
const key = "ada";

describe.each(storesAndRedis)("a wait for a slot with tokens on %s", (_name, open) => {
  it.each([
    ["blocked", { blocked: true } as const],
    ["smaller", { config: { kind: "token bucket", rate: 1, period: MINUTE } } as const],
  ])("obeys an override that came meanwhile: %s", async (_rule, rule) => {
    const { store, peer, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    const make = (of: typeof store) =>
      createRateLimiter({ store: of as never, limits, overrides: true, overridesFor: 0 });
    const [limiter, other] = [make(store), make(peer)];
    const holder = await other.enter("generations", { key });
    let waiting: ReturnType<typeof limiter.enter> | undefined;
    await new Promise<void>((joined) => {
      const items = [{ name: "tokens", key, count: 4 }] as const;
      const onPlace = () => joined();
      waiting = limiter.enter("generations", { key, maxWait: 15_000, with: items, onPlace });
    });
    await other.overrides.set("tokens", { key, ...rule });
    if (holder.ok) await holder.release();
    if ("config" in rule) {
      // No wait brings four tokens.
      await expect(waiting).rejects.toThrow(/count/u);
    } else expect(await waiting).toMatchObject({ ok: false, name: "tokens" });
    expect(await other.check("generations", { key })).toMatchObject({ ok: true, value: 1 });
  });
});
