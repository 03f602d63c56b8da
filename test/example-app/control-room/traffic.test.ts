import { expect, it } from "vitest";
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { controlRoomLimits } from "../../../example-app/control-room/limits.js";
import { callAsCustomers, callTooMuch } from "../../../example-app/control-room/traffic.js";

it("calls as many customers, some of which are limited soon, until nobody looks", async () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits: controlRoomLimits });
  const ending = new AbortController();
  const calls = callAsCustomers({ limiter }, ending.signal);
  await expect
    .poll(async () => (await limiter.list("apiCalls")).items.length, { timeout: 10_000 })
    .toBeGreaterThan(5);
  ending.abort();
  await calls;
});

it("limits three customers before somebody looks", async () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits: controlRoomLimits });
  await callTooMuch({ limiter });
  const { items } = await limiter.list("apiCalls", { denied: true });
  expect(new Set(items.map(({ key }) => key))).toEqual(
    new Set(["customer 1", "customer 2", "customer 3"]),
  );
});
