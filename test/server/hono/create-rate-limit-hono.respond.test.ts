/** Answers of the application's own to requests that the middleware of Hono does not let through. */
import { Hono } from "hono";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimitHono,
  type RateLimitHonoOptions,
  type RateLimitRefusal,
} from "../../../server/hono/index.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  pgStore,
  type RateLimitStore,
} from "../../../server/index.js";

const limits = {
  sendMessage: { kind: "token bucket", rate: 1, period: MINUTE },
  perMinute: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 },
} as const;
type Options = Partial<RateLimitHonoOptions<{ Variables: object }, typeof limits>>;

function open(options: Options = {}, store: RateLimitStore<never> = memoryStore() as never) {
  const limiter = createRateLimiter({ store, limits, clock: createManualClock(), logger: false });
  const { rateLimited } = createRateLimitHono<typeof limits, { Variables: object }>({
    limiter,
    key: (c) => c.req.header("x-user") ?? null,
    ...options,
  });
  const app = new Hono<{ Variables: object }>();
  const get = (path = "/", user = "ada") =>
    app.request(path, user === "" ? {} : { headers: { "x-user": user } });
  return { app, get, rateLimited };
}

describe("respond", () => {
  it("answers a denial in the application's own words, with the fields of the default", async () => {
    const { app, get, rateLimited } = open({
      respond(c, refusal, response) {
        if (refusal.reason !== "denied") return response;
        const { name, retryAfter } = refusal.rateLimit;
        const text = `${c.req.path}: ${name} in ${retryAfter}, ${refusal.error.message}`;
        return c.text(text, 420 as never, { "Retry-After": response.headers.get("Retry-After")! });
      },
    });
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    expect((await get()).status).toBe(200);
    const denied = await get();
    expect([denied.status, denied.headers.get("Retry-After")]).toEqual([420, "60"]);
    expect(await denied.text()).toBe(
      '/: sendMessage in 60000, Rate limit "sendMessage" exceeded. Try again in 1 minute',
    );
  });

  it("of a route goes before that of all routes, and may take its time", async () => {
    const { app, get, rateLimited } = open({ respond: (c) => c.text("all", 418) });
    app.get("/all", rateLimited("sendMessage"), (c) => c.text("sent"));
    const respond = async () => Promise.resolve(new Response("own", { status: 420 }));
    app.get("/own", rateLimited("sendMessage", { respond }), (c) => c.text("sent"));
    await get("/all");
    expect(await (await get("/all")).text()).toBe("all");
    expect(await (await get("/own")).text()).toBe("own");
  });

  it("is told why: no key, an input that is not valid, a store that fails", async () => {
    const heard: RateLimitRefusal[] = [];
    const respond: Options["respond"] = (_c, refusal, response) => {
      heard.push(refusal);
      return response;
    };
    const { app, get, rateLimited } = open({ respond });
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    app.get("/many", rateLimited("sendMessage", { count: 9 }), (c) => c.text("sent"));
    expect([(await get("/", "")).status, (await get("/many")).status]).toEqual([400, 413]);
    expect((await get("/", "a".repeat(300))).status).toBe(400);
    const pool = new pg.Pool({ connectionString: "postgresql://secret@127.0.0.1:1/none" });
    onTestFinished(() => pool.end());
    const failing = open({ respond }, pgStore(pool) as never);
    failing.app.get("/", failing.rateLimited("sendMessage"), (c) => c.text("sent"));
    expect((await failing.get()).status).toBe(503);
    expect(heard.map(({ reason, error }) => [reason, error.name])).toEqual([
      ["no key", "RateLimitInputError"],
      ["invalid input", "RateLimitInputError"],
      ["invalid input", "RateLimitInputError"],
      ["store failure", "RateLimitStoreError"],
    ]);
  });

  it("is not asked about other errors, which reach the application as they are", async () => {
    const { app, get, rateLimited } = open({
      respond: (c) => c.text("no"),
      key: () => {
        throw new Error("no session");
      },
    });
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    app.onError((error, c) => c.text(error.message, 500));
    const answer = await get();
    expect([answer.status, await answer.text()]).toEqual([500, "no session"]);
  });

  it("has to answer", async () => {
    const { app, get, rateLimited } = open({ respond: (() => undefined) as never });
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    app.onError((error, c) => c.text(error.message, 500));
    const answer = await get("/", "");
    expect(await answer.text()).toBe("respond must return a Response, got undefined");
  });
});

it("says of a request without a key that it has none", async () => {
  const { app, get, rateLimited } = open();
  app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
  const answer = await get("/", "");
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { kind: "InvalidInput", reason: "no key" },
  ]);
});

describe("xRateLimit", () => {
  it("adds the fields of the strictest limit to grants and to denials", async () => {
    const { app, get, rateLimited } = open({ xRateLimit: "seconds" });
    app.get("/", rateLimited(["perMinute", "sendMessage"]), (c) => c.text("sent"));
    const fieldsOf = ({ headers }: Response) =>
      ["Limit", "Remaining", "Reset"].map((field) => headers.get(`X-RateLimit-${field}`));
    expect(fieldsOf(await get())).toEqual(["1", "0", "60"]);
    expect(fieldsOf(await get())).toEqual(["1", "0", "60"]);
  });

  it("leaves the fields of a route as they are, behind limits of the whole app", async () => {
    const { app, get, rateLimited } = open({ xRateLimit: "seconds" });
    app.use(rateLimited("perMinute"));
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    const { headers } = await get();
    expect(headers.get("X-RateLimit-Limit")).toBe("1");
    expect(headers.get("RateLimit")).toMatch(/"sendMessage".*"perMinute"/);
  });
});
