/** The admin router as a whole: the limits that it shows, and a customer's page beside it. */
import { initTRPC } from "@trpc/server";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { createRateLimitTRPC } from "../../../../server/trpc/index.js";
import { asJson, openAdmin, openAdminOn } from "../../../support/admin-caller.js";
import { stores } from "../../../support/stores.js";

describe("limits", () => {
  it("says of each limit what it is, as it is written, whatever overrides there are", async () => {
    const { limiter, admin } = openAdmin(
      memoryStore(),
      {
        bucket: { kind: "token bucket", rate: 2, period: HOUR, shards: 2, whenStoreFails: "allow" },
        counted: { kind: "fixed window", rate: 2, period: HOUR, start: 0, usage: true },
        held: {
          kind: "token bucket",
          rate: 2,
          period: HOUR,
          holds: true,
          usage: { every: MINUTE, keep: DAY },
        },
        week: { kind: "fixed window", rate: 2, period: "week", timeZone: "UTC" },
        credits: { kind: "credits" },
        slots: { kind: "concurrency", slots: 3 },
      },
      { clock: () => 0 },
    );
    await limiter.overrides.set("bucket", { blocked: true });
    const { now, hashed, actions, limits } = asJson(await admin.limits());
    expect([now, hashed]).toEqual([0, false]);
    expect(actions).toEqual(["view", "ban", "exempt", "raise", "give", "plan", "clear", "reset"]);
    const plain = { usage: false, holds: false, overrides: true };
    const [bucket, counted, held, week, credits, slots] = limits;
    expect(bucket).toEqual({
      name: "bucket",
      kind: "token bucket",
      // An attacker who got so far does not learn which limits an outage opens.
      config: { kind: "token bucket", rate: 2, period: HOUR, shards: 2 },
      ...plain,
    });
    expect(counted).toMatchObject({ ...plain, usage: true, usageEvery: HOUR });
    expect(held).toMatchObject({ ...plain, holds: true, usage: true, usageEvery: MINUTE });
    expect(week).toMatchObject({ ...plain, kind: "fixed window", config: { rate: 2 } });
    expect(week).toMatchObject({ config: { starts: expect.arrayContaining([4 * DAY]) } });
    expect(credits).toMatchObject({ ...plain, kind: "credits" });
    expect(slots).toMatchObject({
      ...plain,
      kind: "concurrency",
      config: { slots: 3 },
      overrides: false,
    });
  });
});

it("says that the limits are switched off, as long as they are", async () => {
  const switched = { isOn: false };
  const enabled = () => switched.isOn;
  const few = { kind: "fixed window", rate: 2, period: HOUR } as const;
  const { admin } = openAdmin(memoryStore(), { few }, { enabled, logger: false });
  expect(asJson(await admin.limits())).toMatchObject({ disabled: true, limits: [{ name: "few" }] });
  switched.isOn = true;
  expect(await admin.limits()).not.toHaveProperty("disabled");
});

describe.each(stores)("a customer's open page on %s", (_, open) => {
  it("shows at once what an operator does in the same process", async () => {
    const limits = { send: { kind: "token bucket", rate: 2, period: DAY } } as const;
    const { limiter, admin } = await openAdminOn(open, limits);
    const t = initTRPC.create();
    // The page does not read by itself before the end of the test.
    const rl = createRateLimitTRPC({ t, limiter, key: () => "ada", interval: HOUR });
    const page = t.router({ rateLimit: rl.router });
    const stop = new AbortController();
    const caller = t.createCallerFactory(page)({}, { signal: stop.signal });
    await limiter.limit("send", { key: "ada", count: 2 });

    const seen: [value: number, isShadow: boolean][] = [];
    const watched = await caller.rateLimit.watch({ items: [{ name: "send" }] });
    const reading = (async () => {
      for await (const { value, config } of watched) {
        seen.push([Math.round(value), config.shadow === true]);
      }
    })();
    const sees = async (count: number) => {
      for (let i = 0; i < 100 && seen.length < count; i++) await setTimeout(20);
    };
    const to = { name: "send", key: "ada" } as const;
    const acts = [
      () => admin.reset(to),
      () => admin.ban(to),
      () => admin.exempt(to),
      () => admin.clear({ ...to, only: "unlimited" }),
      () => admin.raise({ ...to, times: 5 }),
      () => admin.clear({ ...to, only: "blocked" }),
      () => admin.clear(to),
    ];
    await sees(1);
    for (const [i, act] of acts.entries()) {
      await act();
      await sees(i + 2);
    }
    stop.abort();
    await reading.catch(() => {});
    expect(seen).toEqual([
      [0, false],
      [2, false],
      [0, false],
      [2, true],
      // The ban is there again, until it is cleared.
      [0, false],
      [0, false],
      [10, false],
      [2, false],
    ]);
  });
});
