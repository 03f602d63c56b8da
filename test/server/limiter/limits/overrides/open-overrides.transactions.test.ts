/** Overrides in transactions, which may hold the only connection to the database. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, MINUTE } from "../../../../../server/index.js";
import { stores } from "../../../../support/stores.js";

const limits = { send: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
const user = { key: "user" };

describe.each(stores)("a transaction on %s", (_, open) => {
  async function setUp() {
    const opened = await open();
    const make = (store: typeof opened.store) =>
      createRateLimiter({ store, limits, overrides: true, overridesFor: 0 });
    return {
      setting: make(opened.peer),
      limiter: make(opened.store),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  it("obeys the overrides that were there when it began", async () => {
    await using at = await setUp();
    const call = () => at.limiter.transaction(({ limit }) => limit("send", user));
    expect(await call()).toMatchObject({ ok: true });
    await at.setting.overrides.set("send", { ...user, blocked: true });
    expect(await call()).toMatchObject({ ok: false });
    await at.setting.overrides.clear("send", user);
    expect(await call()).toMatchObject({ ok: true });
  });

  it("of the application reads the overrides itself", async () => {
    await using at = await setUp();
    const call = () =>
      at.limiter.transaction(async ({ tx }) => {
        const joined = at.limiter.using(tx);
        return [await joined.limit("send", user), await joined.limit("send", user)];
      });
    expect(await call()).toMatchObject([{ ok: true }, { ok: true }]);
    await at.setting.overrides.set("send", { ...user, blocked: true });
    expect(await call()).toMatchObject([{ ok: false }, { ok: false }]);
    expect(await at.limiter.limit("send", user)).toMatchObject({ ok: false });
  });
});
