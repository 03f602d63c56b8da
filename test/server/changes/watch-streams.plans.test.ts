/** An open page whose key gets another plan, while calls by the old plan are still under way. */
import { initTRPC } from "@trpc/server";
import { expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, memoryStore, type RateLimitSnapshot } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { soon } from "../../support/soon.js";

const limits = {
  pictures: { kind: "fixed window", period: "month", start: 0, plans: { free: 5, pro: 50 } },
} as const;

type Plan = "free" | "pro";

/** @param by who looks the plan of a key up. */
function setUp(by: "tRPC" | "limiter") {
  const plans = new Map<string | undefined, Plan>();
  const asked: (string | undefined)[] = [];
  const planOf = ({ key }: { key: string | undefined }) => {
    asked.push(key);
    return plans.get(key) ?? "free";
  };
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: createManualClock(),
    plans: ["free", "pro"],
    limits,
    ...(by === "limiter" && { plan: planOf }),
  });
  const t = initTRPC.context<{ user: string }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.user,
    ...(by === "tRPC" && { plan: planOf }),
    // Only news can change what a page shows.
    interval: 1e9,
    keyInterval: 1e9,
  });
  const router = t.router({
    rateLimit: rl.router,
    draw: t.procedure.use(rl.rateLimited("pictures")).mutation(({ ctx }) => ctx.rateLimit.value),
  });

  function open(user: string) {
    const seen: string[] = [];
    const connection = new AbortController();
    onTestFinished(() => connection.abort());
    const caller = t.createCallerFactory(router)({ user }, { signal: connection.signal });
    const ended = (async () => {
      const items = [{ name: "pictures" as const }];
      const stream = (await caller.rateLimit.watch({ items })) as AsyncIterable<RateLimitSnapshot>;
      for await (const { plan, value, config } of stream) {
        seen.push(`${plan}: ${value} of ${config.rate}`);
      }
    })();
    return { seen, caller, ended, close: () => connection.abort() };
  }
  return { limiter, plans, asked, open };
}

it.each(["tRPC", "limiter"] as const)(
  "shows 45 of 50 after an upgrade that %s says, whatever the old plan still asks",
  async (by) => {
    const { limiter, plans, open } = setUp(by);
    const page = open("ada");
    await soon(() => expect(page.seen).toEqual(["free: 5 of 5"]));
    for (let i = 0; i < 5; i++) await page.caller.draw();
    await soon(() => expect(page.seen.at(-1)).toBe("free: 0 of 5"));
    await expect(page.caller.draw()).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
    plans.set("ada", "pro");
    limiter.planChanged("ada");
    const late = await limiter.limit("pictures", { key: "ada", plan: "free" });
    expect(late.ok).toBe(false);
    await soon(() => expect(page.seen.at(-1)).toBe("pro: 45 of 50"));
    expect(await page.caller.draw()).toBe(44);
    await soon(() => expect(page.seen.at(-1)).toBe("pro: 44 of 50"));
    // Back again: what was used is more than the free plan has.
    plans.set("ada", "free");
    limiter.planChanged("ada");
    await soon(() => expect(page.seen.at(-1)).toMatch(/^free: -?[01] of 5$/));
    await expect(page.caller.draw()).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
    page.close();
    await page.ended;
  },
);

it.each(["tRPC", "limiter"] as const)(
  "asks %s for the changed key alone, and tells no page of the others",
  async (by) => {
    const { limiter, plans, asked, open } = setUp(by);
    const [ada, bob] = [open("ada"), open("bob")];
    await soon(() => expect([...ada.seen, ...bob.seen]).toEqual(Array(2).fill("free: 5 of 5")));
    asked.length = 0;
    plans.set("ada", "pro");
    limiter.planChanged("ada");
    await soon(() => expect(ada.seen.at(-1)).toBe("pro: 50 of 50"));
    expect(asked).toEqual(["ada"]);
    expect(bob.seen).toEqual(["free: 5 of 5"]);
  },
);

it("asks the limiter once for all pages and calls of a key", async () => {
  const { asked, open } = setUp("limiter");
  const pages = [open("ada"), open("ada"), open("ada")];
  for (const { seen } of pages) await soon(() => expect(seen).toHaveLength(1));
  await pages[0]!.caller.draw();
  await pages[0]!.caller.rateLimit.status({ name: "pictures" });
  expect(asked).toEqual(["ada"]);
});
