/** Options that are wrong are errors at the start. */
import { expect, it } from "vitest";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  MINUTE,
  SHARED_BUCKET,
} from "../../../../server/index.js";

const config = { kind: "token bucket", rate: 5, period: MINUTE } as const;
const store = memoryStore();
const limiter = createRateLimiter({ store, limits: { send: config, team: config } });
const planned = createRateLimiter({
  store,
  plans: ["free", "pro"],
  limits: { send: { kind: "token bucket", period: MINUTE, plans: { free: 1, pro: 2 } } },
});
const limits = { send: config };
const key = SHARED_BUCKET;

/** As plain JavaScript can call it. */
const create = createRateLimitHandler as unknown as (options: object) => unknown;

it.each([
  [
    "a limiter without limits",
    { limiter: createRateLimiter({ store, limits: {} }), key },
    "no limits",
  ],
  ["an option with a typing error", { limiter, key, authorise: () => true }, "authorise"],
  ["an option of the router", { limiter, key, t: {} }, "t"],
  ["no key", { limiter }, "({ request }) => userIdOf(request)"],
  ["a key that is a text", { limiter, key: "ada" }, "SHARED_BUCKET"],
  ["a context that is no function", { limiter, key, context: {} }, "context"],
  ["an authorize that is no function", { limiter, key, authorize: true }, "authorize"],
  ["an expose with an unknown name", { limiter, key, expose: ["nope"] }, "send, team"],
  ["an expose that is a text", { limiter, key, expose: "send" }, "send, team"],
  ["a plan that is a text", { limiter: planned, key, plan: "pro" }, "plan"],
  ["a plan where no limit has plans", { limiter, key, plan: () => "pro" }, "plan"],
  ["limits with plans, and nothing that says the plan", { limiter: planned, key }, "plan"],
  ...[0, -1, NaN, "no", null].flatMap((ms) =>
    ["interval", "keyInterval", "heartbeat"].map((name) => [
      `${name}: ${ms}`,
      { limiter, key, [name]: ms },
      name,
    ]),
  ),
  // A client takes a stream for dead before its second ping.
  ["a heartbeat that is too long", { limiter, key, heartbeat: 30_001 }, "at most 30000"],
  ...[0, 1.5, -1, NaN, "2"].map((maxStreams) => [
    `maxStreams: ${maxStreams}`,
    { limiter, key, maxStreams },
    "maxStreams",
  ]),
] as [string, object, string][])("%s", (_what, options, message) => {
  expect(() => create(options)).toThrow(
    expect.objectContaining({
      name: "RateLimitConfigError",
      message: expect.stringContaining(message) as string,
    }) as Error,
  );
});

it("names itself where an option is unknown", () => {
  expect(() => create({ limiter, key, foo: 1 })).toThrow("createRateLimitHandler()");
});

it("takes bounds that are Infinity, and a limiter that says the plan", () => {
  const byLimiter = createRateLimiter({
    store,
    plans: ["free"],
    limits: { send: { kind: "token bucket", period: MINUTE, plans: { free: 1 } } },
    plan: () => "free",
  });
  const maxStreams = Infinity;
  create({ limiter: byLimiter, key, maxStreams, interval: Infinity, keyInterval: Infinity });
});

it("keeps the options of its start", async () => {
  const options = { limiter: createRateLimiter({ store, limits }), key: () => "ada" };
  const handler = createRateLimitHandler(options);
  options.key = () => "";
  const response = await handler(new Request("http://x/?action=status&name=send"));
  expect(response.status).toBe(200);
});
