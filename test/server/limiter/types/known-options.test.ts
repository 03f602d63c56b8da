/** Options that do not exist, as plain JavaScript may pass them. */
import { expect, it } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimiter,
} from "../../../../server/index.js";

const one = { kind: "token bucket", rate: 5, period: MINUTE } as const;

function create() {
  return createRateLimiter({ store: memoryStore(), clock: () => 0, limits: { one } });
}

/** The methods as plain JavaScript sees them. */
type Untyped = Record<keyof RateLimiter, (...args: unknown[]) => Promise<unknown>>;

it.each([
  ["limit", { ky: "a" }, "key, plan, config, count, atLeast, reserve, throws, once, hold, context"],
  ["check", { ky: "a" }, "key, plan, config, count, atLeast, reserve, throws, once, hold, context"],
  ["reset", { ky: "a" }, "key, plan, config"],
  ["refund", { ky: "a" }, "key, plan, config, count, result"],
  ["getValue", { ky: "a" }, "key, plan, config"],
  ["acquire", { ky: "a" }, "key, plan, config, count, maxWait, signal, once, hold, context"],
] as const)("%s() rejects a misspelt option, and changes nothing", async (method, options, use) => {
  const limiter = create();
  await limiter.limit("one", { count: 2 });
  const message = `ky is not an option of ${method}(), got "a"; use ${use}`;
  await expect((limiter as unknown as Untyped)[method]("one", options)).rejects.toMatchObject({
    name: "RateLimitConfigError",
    option: "ky",
    value: "a",
    message,
  });
  const { transaction } = limiter as unknown as { transaction: RateLimiter["transaction"] };
  if (method !== "acquire") {
    const inside = transaction((scope) => (scope as unknown as Untyped)[method]("one", options));
    await expect(inside).rejects.toThrow(message);
  }
  expect((await limiter.getValue("one")).value).toBe(3);
});

it("options of a prototype are no options", async () => {
  const limiter = create();
  const options = Object.create({ inherited: true }) as object;
  expect(await limiter.limit("one", options)).toMatchObject({ ok: true, value: 4 });
});
