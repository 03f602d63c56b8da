/** An open page whose key gets another plan, while calls by the old plan are still under way. */
import { initTRPC } from "@trpc/server";
import { expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { DOORS, openDoor } from "../../support/live-doors.js";
import { soon } from "../../support/soon.js";

const limits = {
  pictures: { kind: "fixed window", period: "month", start: 0, plans: { free: 5, pro: 50 } },
} as const;

type Plan = "free" | "pro";

/** Who looks the plan of a key up, and by which way the page reaches its limits. */
const WAYS = DOORS.flatMap((door) => [
  { by: "its own function" as const, door },
  { by: "the limiter's" as const, door },
]);
type Way = (typeof WAYS)[number];

function setUp({ by, door }: Way) {
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
    ...(by === "the limiter's" && { plan: planOf }),
  });
  const options = {
    limiter,
    key: ({ ctx }: { ctx: { user: string } }) => ctx.user,
    ...(by === "its own function" && { plan: planOf }),
    // Only news can change what a page shows.
    interval: 1e9,
    keyInterval: 1e9,
  };
  const t = initTRPC.context<{ user: string }>().create();
  const rl = createRateLimitTRPC({ t, ...options });
  const router = t.router({
    rateLimit: rl.router,
    draw: t.procedure.use(rl.rateLimited("pictures")).mutation(({ ctx }) => ctx.rateLimit.value),
  });
  const createDoor = openDoor<{ user: string }>(door, { ...options, authorize: () => true });

  function callerOf(user: string, signal: AbortSignal) {
    const { limit, status, watch } = createDoor({ user }, { signal });
    // The middleware, which the handler does not have.
    if (door === "router") {
      const { draw } = t.createCallerFactory(router)({ user }, { signal });
      return { draw, status, watch };
    }
    const draw = async () => {
      const { ok, value } = await limit({ name: "pictures" });
      if (!ok) throw Object.assign(new Error("denied"), { code: "TOO_MANY_REQUESTS" });
      return value;
    };
    return { draw, status, watch };
  }

  function open(user: string) {
    const seen: string[] = [];
    const connection = new AbortController();
    onTestFinished(() => connection.abort());
    const caller = callerOf(user, connection.signal);
    const ended = (async () => {
      const items = [{ name: "pictures" as const }];
      const stream = await caller.watch({ items });
      for await (const { plan, value, config } of stream) {
        seen.push(`${plan}: ${value} of ${config.rate}`);
      }
    })();
    return { seen, caller, ended, close: () => connection.abort() };
  }
  return { limiter, plans, asked, open };
}

it.each(WAYS)(
  "shows 45 of 50 after an upgrade that $by says, whatever the old plan still asks, over the $door",
  async (way) => {
    const { limiter, plans, open } = setUp(way);
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

it.each(WAYS)(
  "asks $by for the changed key alone, and tells no page of the others, over the $door",
  async (way) => {
    const { limiter, plans, asked, open } = setUp(way);
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

it.each(DOORS)(
  "asks the limiter once for all pages and calls of a key, over the %s",
  async (door) => {
    const { asked, open } = setUp({ by: "the limiter's", door });
    const pages = [open("ada"), open("ada"), open("ada")];
    for (const { seen } of pages) await soon(() => expect(seen).toHaveLength(1));
    await pages[0]!.caller.draw();
    await pages[0]!.caller.status({ name: "pictures" });
    expect(asked).toEqual(["ada"]);
  },
);
