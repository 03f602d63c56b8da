/** The `plan` function of a limiter: it is called seldom, and never if a call names its plan. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { planDigest } from "../../../../../server/changes/plan-digest.js";
import {
  type ChangeListener,
  createRateLimiter,
  DAY,
  memoryStore,
  type PlanQuestion,
  RateLimitConfigError,
  RateLimitStoreError,
} from "../../../../../server/index.js";

type Plan = "free" | "pro";

function opened(options: { planFor?: number; timeout?: number } = {}) {
  const plans = new Map<string | undefined, Plan>();
  const asked = vi.fn(async ({ key }: PlanQuestion): Promise<Plan> => plans.get(key) ?? "free");
  let fromOthers: ChangeListener | undefined;
  const logger = { warn: vi.fn(), error: vi.fn() };
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    plan: asked,
    limits: {
      pictures: { kind: "fixed window", period: DAY, start: 0, plans: { free: 5, pro: 50 } },
      calls: { kind: "fixed window", period: DAY, start: 0, plans: { free: 10, pro: 100 } },
      renders: { kind: "concurrency", plans: { free: 1, pro: 2 } },
      plain: { kind: "fixed window", period: DAY, start: 0, rate: 3 },
    },
    channel: {
      publish() {},
      subscribe(listener) {
        fromOthers = listener;
        return () => (fromOthers = undefined);
      },
    },
    logger,
    ...options,
  });
  return { limiter, plans, asked, logger, tell: (digest: string) => fromOthers?.(digest) };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

it("is asked once per limit and key, in each verb, until planFor has passed", async () => {
  const { limiter, asked } = opened();
  await Promise.all([1, 2, 3].map(() => limiter.limit("pictures", { key: "ada" })));
  await limiter.check("pictures", { key: "ada" });
  await limiter.getValue("pictures", { key: "ada" });
  await limiter.snapshots([{ name: "pictures", key: "ada" }]);
  await limiter.acquire("pictures", { key: "ada" });
  await limiter.transaction(({ limit }) => limit("pictures", { key: "ada" }));
  expect(asked.mock.calls).toEqual([[{ key: "ada", name: "pictures" }]]);
  vi.advanceTimersByTime(59_999);
  await limiter.charge("pictures", { key: "ada" });
  expect(asked).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  await limiter.limit("pictures", { key: "ada" });
  expect(asked).toHaveBeenCalledTimes(2);
});

it("is asked for the limits with plans of a list, for each with its key", async () => {
  const { limiter, plans, asked } = opened();
  plans.set("team", "pro");
  const items = [
    { name: "plain" },
    { name: "pictures", key: "ada" },
    { name: "calls", key: "team" },
  ] as const;
  expect(await limiter.limitAll(items)).toMatchObject({
    ok: true,
    results: [{ value: 2 }, { value: 4 }, { value: 99 }],
  });
  await limiter.limitFirst(["pictures", { name: "calls", key: "team" }], { key: "ada" });
  await limiter.enter("renders", { key: "ada", with: [{ name: "calls", key: "team" }] });
  const calls = asked.mock.calls.map(([{ name, key }]) => [name, key]);
  expect(calls).toEqual([
    ["pictures", "ada"],
    ["calls", "team"],
    ["renders", "ada"],
  ]);
});

it("is never asked where a call says its plan, or a config, or the limit has no plans", async () => {
  const { limiter, asked } = opened();
  await limiter.limit("pictures", { key: "ada", plan: "pro" });
  await limiter.limit("pictures", {
    key: "ada",
    config: { kind: "fixed window", rate: 7, period: DAY },
  });
  await limiter.limit("plain", { key: "ada" });
  await limiter.limitFirst(["pictures", "plain"], { key: "ada", plan: "pro" });
  expect(asked).not.toHaveBeenCalled();
});

describe("after planChanged", () => {
  it("gives what the new plan leaves at once, in this process", async () => {
    const { limiter, plans } = opened();
    await limiter.limit("pictures", { key: "ada", count: 5 });
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ ok: false });
    plans.set("ada", "pro");
    limiter.planChanged("ada");
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ ok: true, value: 44 });
    expect(limiter.configOf("pictures", { key: "ada" })).toMatchObject({ rate: 50 });
  });

  it("asks again after the commit of a transaction", async () => {
    const { limiter, plans } = opened();
    await limiter.limit("pictures", { key: "ada", count: 5 });
    await limiter.transaction(async ({ planChanged }) => {
      planChanged("ada");
      plans.set("ada", "pro");
    });
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ ok: true, value: 44 });
  });

  it("asks again when another process tells, for this key alone", async () => {
    const { limiter, plans, asked, tell } = opened();
    await limiter.limit("pictures", { key: "ada" });
    await limiter.limit("pictures", { key: "bob" });
    plans.set("ada", "pro");
    tell(planDigest("ada"));
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ value: 48 });
    expect(await limiter.limit("pictures", { key: "bob" })).toMatchObject({ value: 3 });
    expect(asked).toHaveBeenCalledTimes(3);
  });

  it("keeps no answer that was read before the change", async () => {
    const { limiter, plans, asked } = opened();
    let answer: ((plan: Plan) => void) | undefined;
    asked.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
    const first = limiter.limit("pictures", { key: "ada" });
    await vi.waitFor(() => expect(answer).toBeDefined());
    plans.set("ada", "pro");
    limiter.planChanged("ada");
    answer!("free");
    expect(await first).toMatchObject({ value: 4 });
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ value: 48 });
  });
});

describe("that fails", () => {
  it("fails the call with its own error, and consumes nothing", async () => {
    const { limiter, asked } = opened();
    const failure = new Error("the table of users is locked");
    asked.mockRejectedValueOnce(failure);
    await expect(limiter.limit("pictures", { key: "ada" })).rejects.toBe(failure);
    expect((await limiter.getValue("pictures", { key: "ada" })).value).toBe(5);
  });

  it("leaves the answer before in force, and says so once", async () => {
    const { limiter, asked, logger, plans } = opened({ planFor: 0 });
    plans.set("ada", "pro");
    await limiter.limit("pictures", { key: "ada" });
    asked.mockRejectedValue(new Error("down"));
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ value: 48 });
    expect(await limiter.limit("pictures", { key: "ada" })).toMatchObject({ value: 47 });
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(logger.warn).toHaveBeenCalledWith(expect.stringContaining("plan function failed"));
  });

  it("is waited for no longer than the store", async () => {
    const { limiter, asked } = opened({ timeout: 500 });
    asked.mockImplementation(() => new Promise(() => {}));
    const call = limiter.limit("pictures", { key: "ada" });
    await Promise.all([
      expect(call).rejects.toThrow(RateLimitStoreError),
      vi.advanceTimersByTimeAsync(2_000),
    ]);
  });

  it("must say a plan of the limiter", async () => {
    const { limiter, asked } = opened();
    asked.mockResolvedValueOnce("max" as Plan);
    const call = limiter.limit("pictures", { key: "ada" });
    await expect(call).rejects.toThrow(RateLimitConfigError);
    asked.mockResolvedValueOnce(undefined as never);
    await expect(limiter.limit("pictures", { key: "ada" })).rejects.toThrow(
      /the plan function returned undefined for "pictures"; return one of "free", "pro"/,
    );
  });
});

it("lists each key by its plan, and asks for no key that is hashed", async () => {
  const { limiter, plans } = opened();
  plans.set("bob", "pro");
  for (const key of ["ada", "bob"]) await limiter.limit("pictures", { key, count: 5 });
  expect((await limiter.list("pictures")).items).toMatchObject([
    { key: "ada", plan: "free", value: 0 },
    { key: "bob", plan: "pro", value: 45 },
  ]);
  expect((await limiter.list("pictures", { denied: true })).items.map(({ key }) => key)).toEqual([
    "ada",
  ]);

  const asked = vi.fn(() => "free" as const);
  const hashed = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    plan: asked,
    hashKey: (key) => `#${key}`,
    limits: {
      pictures: { kind: "fixed window", period: DAY, start: 0, plans: { free: 5, pro: 50 } },
    },
  });
  await hashed.limit("pictures", { key: "ada" });
  const [item] = (await hashed.list("pictures")).items;
  expect(item).toMatchObject({ key: "#ada", value: 49 });
  expect(item).not.toHaveProperty("plan");
  expect(asked).toHaveBeenCalledTimes(1);
});
