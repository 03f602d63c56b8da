/** The options and calls that a limiter with plans accepts or refuses, when it is made and at a call. */
import { describe, expect, it } from "vitest";
import { itThrows } from "../../../../support/refusals.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitConfigError,
} from "../../../../../server/index.js";

const bucket = { kind: "token bucket", period: MINUTE } as const;

/** In plain JavaScript, or of a config that was read. */
function made(limits: object, plans: unknown = ["free", "pro"], others: object = {}) {
  return () => createRateLimiter({ store: memoryStore(), plans, limits, ...others } as never);
}

const withPlans = (plans: unknown, config: object = bucket) => made({ a: { ...config, plans } });

itThrows(RateLimitConfigError, [
  [withPlans({ free: 1 }), 'limits.a.plans has no entry for the plan "pro"'],
  [withPlans({ free: 1, pro: 2, max: 3 }), "limits.a.plans.max is no plan of the limiter; its "],
  [withPlans({ free: 1, pro: 2, max: 3 }), 'its plans are "free", "pro"'],
  [made({ a: { ...bucket, plans: { free: 1 } } }, []), "its plans are none"],
  [withPlans(null), "limits.a.plans must be an object"],
  [withPlans({ free: 1, pro: 2 }, { ...bucket, rate: 1 }), "rate does not go beside plans"],
  [withPlans({ free: 1, pro: -2 }), "limits.a.plans.pro.rate must be a finite number above 0"],
  [withPlans({ free: 1, pro: "all" }), "limits.a.plans.pro must be a rate"],
  [
    withPlans({ free: 1, pro: { rate: 1, period: 5 } }),
    "a.plans.pro.period is not an option of a plan",
  ],
  [withPlans({ free: 1, pro: 2 }, { kind: "credits" }), "credits"],
  [withPlans({ free: 1, pro: "unlimited" }, { kind: "concurrency" }), "a number of slots"],
  [made({}, ["free", "free"]), 'plans has "free" twice'],
  [made({}, { free: 1 }), "plans must be a list"],
  [made({}, ["free"], { plan: "free" }), "plan must be a function"],
  [made({}, ["free"], { plan: () => "free", planFor: -1 }), "planFor must be"],
]);

describe("a call", () => {
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    limits: {
      pictures: { ...bucket, plans: { free: 5, pro: 50 }, whenStoreFails: "allow", usage: true },
      jobs: { kind: "concurrency", plans: { free: 1, pro: 2 } },
      none: { ...bucket, plans: { free: "none", pro: "unlimited" } },
      plain: { ...bucket, rate: 1 },
    },
  });
  const untyped = limiter as never as Record<string, (...args: unknown[]) => Promise<unknown>>;

  it.each(["limit", "check", "charge", "acquire", "getValue"])("%s says its plan", async (verb) => {
    const call = (plan?: unknown) =>
      untyped[verb]!("pictures", { key: "u", ...(plan ? { plan } : {}) });
    await expect(call()).rejects.toThrow(
      /"pictures" has plans, so a call has to say one of "free", "pro"/,
    );
    await expect(call("max")).rejects.toThrow(/plan must be one of "free", "pro", got "max"/);
    await expect(call("__proto__")).rejects.toThrow(/plan must be one of/);
    await expect(untyped[verb]!("plain", { plan: "pro" })).rejects.toThrow(/"plain" has no plans/);
    await call("pro");
  });

  it.each([
    ["limitAll", () => untyped["limitAll"]!([{ name: "plain" }, { name: "pictures" }])],
    ["limitFirst", () => untyped["limitFirst"]!(["pictures"], { key: "u" })],
    ["snapshots", () => untyped["snapshots"]!([{ name: "pictures" }])],
    ["enter", () => untyped["enter"]!("jobs")],
    ["configOf", async () => untyped["configOf"]!("pictures")],
  ])("%s does, too", async (_, call) => {
    await expect(call()).rejects.toThrow(/has plans, so a call has to say one of/);
  });

  it("has a plan or a config of its own, and not both", async () => {
    const config = { ...bucket, rate: 7 };
    expect(await limiter.limit("pictures", { key: "v", config })).toMatchObject({ value: 6 });
    const both = untyped["limit"]!("pictures", { key: "v", plan: "free", config });
    await expect(both).rejects.toThrow(/a plan or a config, got both/);
  });

  it("consumes nothing where it is refused", async () => {
    await expect(untyped["limit"]!("pictures", { key: "w" })).rejects.toThrow(/plans/);
    expect((await limiter.getValue("pictures", { key: "w", plan: "free" })).value).toBe(5);
  });
});

it("shows a table of plans as plain JSON, without what customers need not know", () => {
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    limits: {
      pictures: {
        kind: "fixed window",
        period: "month",
        start: 0,
        holds: true,
        whenStoreFails: "allow",
        plans: { free: 5, pro: { rate: 50, capacity: 60 } },
      },
      videos: { ...bucket, plans: { free: "none", pro: "unlimited" } },
      plain: { ...bucket, rate: 1 },
    },
  });
  const month = { kind: "fixed window", period: "month", start: 0 };
  expect(JSON.parse(JSON.stringify(limiter.plans))).toEqual({
    free: { pictures: { ...month, rate: 5 }, videos: "none" },
    pro: { pictures: { ...month, rate: 50, capacity: 60 }, videos: "unlimited" },
  });
});

it("tells those who listen by which plan was decided", async () => {
  const heard: unknown[] = [];
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free"],
    limits: { pictures: { ...bucket, plans: { free: 1 } }, plain: { ...bucket, rate: 1 } },
    onDecision: ({ name, plan }) => void heard.push([name, plan]),
  });
  await limiter.limit("pictures", { plan: "free" });
  await limiter.limit("pictures", { plan: "free" });
  await limiter.limit("plain");
  expect(heard).toEqual([
    ["pictures", "free"],
    ["pictures", "free"],
    ["plain", undefined],
  ]);
});
