/** Middleware of Hono, in an app of Hono, as a host serves it. */
import { type Context, Hono } from "hono";
import { stream } from "hono/streaming";
import pg from "pg";
import { describe, expect, expectTypeOf, it } from "vitest";
import { isRateLimitError } from "../../../core/errors.js";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimitHono, SHARED_BUCKET } from "../../../server/hono/index.js";
import {
  createRateLimiter,
  type DecisionEvent,
  memoryStore,
  MINUTE,
  pgStore,
} from "../../../server/index.js";
import { createPostgres } from "../../support/database.js";
import { openStore } from "../../support/open-store.js";
import type { RateLimitStore } from "../../../server/store/store.js";

interface AppEnv {
  Variables: { userId: string | null };
}
const limits = {
  sendMessage: { kind: "token bucket", rate: 3, period: MINUTE },
  perMinute: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 },
  logIn: { kind: "token bucket", rate: 2, period: MINUTE },
} as const;

function open(store: RateLimitStore<never> = memoryStore() as never) {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store, limits, clock });
  const { rateLimited } = createRateLimitHono({
    limiter,
    key: (c: Context<AppEnv>) => c.var.userId,
  });
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    c.set("userId", c.req.header("x-user") ?? null);
    await next();
  });
  const get = (path: string, user = "ada") =>
    app.request(path, user === "" ? {} : { headers: { "x-user": user } });
  return { app, clock, limiter, rateLimited, get };
}

async function statuses(count: number, request: () => Response | Promise<Response>) {
  const found = [];
  for (let i = 0; i < count; i++) found.push((await request()).status);
  return found;
}

describe("middleware of Hono", () => {
  it("lets as many requests of a user through as the limit allows", async () => {
    const { app, clock, rateLimited, get } = open();
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    expect(await statuses(4, () => get("/"))).toEqual([200, 200, 200, 429]);
    expect((await get("/", "grace")).status).toBe(200);
    clock.advance(MINUTE / 3);
    expect(await statuses(2, () => get("/"))).toEqual([200, 429]);
  });

  it("tells onDecision the context of each request", async () => {
    const { app, limiter, rateLimited, get } = open();
    const heard: unknown[] = [];
    limiter.onDecision(({ name, context, result }: DecisionEvent<Context<AppEnv>>) => {
      heard.push([name, result.ok, context?.req.path, context?.var.userId]);
    });
    app.get("/log-in", rateLimited("logIn", { count: 2 }), (c) => c.text("sent"));
    app.get("/both", rateLimited(["logIn", "perMinute"]), (c) => c.text("sent"));
    await get("/log-in");
    await get("/both");
    await get("/both", "grace");
    expect(heard).toEqual([
      ["logIn", true, "/log-in", "ada"],
      ["logIn", false, "/both", "ada"],
      ["logIn", true, "/both", "grace"],
      ["perMinute", true, "/both", "grace"],
    ]);
  });

  it("answers a denial with header fields and its facts", async () => {
    const { app, rateLimited, get } = open();
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    const granted = await get("/");
    expect(granted.headers.get("RateLimit")).toBe('"sendMessage";r=2;t=20');
    expect(granted.headers.get("Retry-After")).toBeNull();
    await statuses(2, () => get("/"));
    const denied = await get("/");
    expect(denied.headers.get("Retry-After")).toBe("20");
    expect(denied.headers.get("RateLimit")).toBe('"sendMessage";r=0;t=20');
    const error = { data: { rateLimit: await denied.json() } };
    expect(isRateLimitError(error) && error.data.rateLimit.retryAfter).toBe(MINUTE / 3);
  });

  it("lets header fields of other middleware stand beside those of a denial", async () => {
    const { app, rateLimited, get } = open();
    app.use(async (c, next) => {
      await next();
      c.header("Access-Control-Allow-Origin", "*");
    });
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    await statuses(3, () => get("/"));
    const denied = await get("/");
    expect(denied.status).toBe(429);
    expect(denied.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(denied.headers.get("Retry-After")).toBe("20");
  });

  it("charges several limits, or none of them", async () => {
    const { app, limiter, rateLimited, get } = open();
    app.get("/", rateLimited(["perMinute", "sendMessage"]), (c) => {
      expectTypeOf(c.var.rateLimit.results).toBeArray();
      return c.json(c.var.rateLimit.results.map(({ value }) => value));
    });
    const granted = await get("/");
    expect(await granted.json()).toEqual([9, 2]);
    expect(granted.headers.get("RateLimit-Policy")).toBe(
      '"perMinute";q=10;w=60, "sendMessage";q=3;w=60',
    );
    expect(await statuses(4, () => get("/"))).toEqual([200, 200, 429, 429]);
    expect(await limiter.getValue("perMinute", { key: "ada" })).toMatchObject({ value: 7 });
  });

  it("lets routes stand behind limits of the whole app, with the fields of both", async () => {
    const { app, rateLimited, get } = open();
    app.use(rateLimited("perMinute"));
    app.get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    const fields = (await get("/")).headers.get("RateLimit");
    expect(fields).toContain('"perMinute"');
    expect(fields).toContain('"sendMessage"');
  });

  it("charges failures alone, and forgets them after a success", async () => {
    const { app, rateLimited, get } = open();
    const on = (c: Context<AppEnv>) => c.res.status === 401;
    app.get("/:word", rateLimited("logIn", { on, resetOnSuccess: true }), (c) => {
      const word = c.req.param("word");
      if (word === "broken") throw new Error("the server's own");
      return word === "right" ? c.text("in") : c.text("out", 401);
    });
    app.onError((_error, c) => c.text("failed", 500));
    expect(await statuses(5, () => get("/broken"))).toEqual([500, 500, 500, 500, 500]);
    expect((await get("/wrong")).status).toBe(401);
    expect((await get("/right")).status).toBe(200);
    expect(await statuses(3, () => get("/wrong"))).toEqual([401, 401, 429]);
  });

  it("lets no more of many guesses at once through than of guesses in a row", async () => {
    await using database = await createPostgres();
    const opened = openStore("pg", database.url);
    const { app, rateLimited, get } = open(opened.store as RateLimitStore<never>);
    app.get("/", rateLimited("logIn", { on: "error" }), (c) => c.text("out", 401));
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        Array.from({ length: 25 }, async () => get("/", `u${round}`)),
      );
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
    }
    await opened.close();
  });

  it("takes as many tokens as the request is worth", async () => {
    const { app, rateLimited, get } = open();
    const count = (c: Context<AppEnv>) => Number(c.req.query("count"));
    app.get("/", rateLimited("perMinute", { count }), (c) => c.json(c.var.rateLimit.value));
    expect(await (await get("/?count=4")).json()).toBe(6);
    expect((await get("/?count=7")).status).toBe(429);
    expect((await get("/?count=11")).status).toBe(413);
    expect((await get("/?count=-1")).status).toBe(400);
    expect(await (await get("/?count=6")).json()).toBe(0);
  });

  it("refuses a request without a key, and shares a bucket where that is said", async () => {
    const { app, rateLimited, get } = open();
    app.get("/own", rateLimited("sendMessage"), (c) => c.text("sent"));
    app.get("/shared", rateLimited("sendMessage", { key: () => SHARED_BUCKET }), (c) =>
      c.text("sent"),
    );
    expect((await get("/own", "")).status).toBe(400);
    const users = ["ada", "grace", "", "alan"];
    const found = [];
    for (const user of users) found.push((await get("/shared", user)).status);
    expect(found).toEqual([200, 200, 200, 429]);
  });

  it("takes the config of a caller's plan, and a limiter of the request", async () => {
    const { limiter } = open();
    const asked: string[] = [];
    const { rateLimited } = createRateLimitHono({
      limiter: (c) => {
        asked.push(c.req.path);
        return limiter;
      },
      key: (c) => c.req.header("x-user") ?? null,
      config: (c) =>
        c.req.header("x-user") === "paying" ? { ...limits.sendMessage, rate: 5 } : undefined,
    });
    const app = new Hono().get("/", rateLimited("sendMessage"), (c) => c.text("sent"));
    const get = (user: string) => app.request("/", { headers: { "x-user": user } });
    expect(await statuses(6, () => get("paying"))).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await statuses(4, () => get("free"))).toEqual([200, 200, 200, 429]);
    expect(asked).toHaveLength(10);
  });

  it("answers 503 while the store fails, and does not run the handler", async () => {
    const pool = new pg.Pool({ connectionString: "postgresql://secret@127.0.0.1:1/none" });
    const limiter = createRateLimiter({ store: pgStore(pool), limits, logger: false });
    const { rateLimited } = createRateLimitHono({ limiter, key: () => "ada" });
    let runs = 0;
    const app = new Hono().get("/", rateLimited("sendMessage"), (c) => c.json(++runs));
    const answer = await app.request("/");
    expect([answer.status, runs]).toEqual([503, 0]);
    expect(await answer.json()).toEqual({ kind: "StoreFailure" });
  });

  it("lets every request through while the limits are off, without header fields", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      enabled: false,
      logger: false,
    });
    const { rateLimited } = createRateLimitHono({ limiter, key: () => "ada" });
    const app = new Hono().get("/", rateLimited(["sendMessage", "perMinute"]), (c) =>
      c.json(c.var.rateLimit.disabled),
    );
    expect(await statuses(5, () => app.request("/"))).toEqual([200, 200, 200, 200, 200]);
    const answer = await app.request("/");
    expect([await answer.json(), answer.headers.get("RateLimit")]).toEqual([true, null]);
  });

  it("leaves a streamed body as it is", async () => {
    const { app, rateLimited, get } = open();
    app.get("/", rateLimited("sendMessage"), (c) =>
      stream(c, async (out) => {
        for (const part of ["a", "b", "c"]) await out.write(part);
      }),
    );
    const answer = await get("/");
    expect(await answer.text()).toBe("abc");
    expect(answer.headers.get("RateLimit")).toContain("r=2");
  });
});

describe("the options of createRateLimitHono", () => {
  const { limiter, rateLimited } = open();
  const create = createRateLimitHono as (options: unknown) => unknown;
  const use = rateLimited as unknown as (names: unknown, options?: unknown) => unknown;

  it.each([
    [() => create({ limiter }), /key must be a function/],
    [() => create({ limiter, key: "ada" }), /key must be a function/],
    [() => create({ limiter, key: () => "ada", config: {} }), /config must be a function/],
    [() => create({ limiter, key: () => "ada", keys: 1 }), /keys/],
    [() => create({ limiter, key: () => "ada", respond: "no" }), /respond must be a function/],
    [
      () => create({ limiter, key: () => "ada", xRateLimit: "ms" }),
      /xRateLimit must be "seconds" or/,
    ],
    [() => use("logIn", { respond: {} }), /respond must be a function/],
    [() => use("logIn", { count: undefined }), /count must be a finite number/],
    [() => use("sendMesage"), /no limit "sendMesage"/],
    [() => use([]), /at least one limit/],
    [() => use(["logIn", "logIn"]), /each limit once/],
    [() => use("logIn", { on: "failure" }), /on must be "call"/],
    [() => use("logIn", { resetOnSuccess: "yes" }), /a boolean/],
    [() => use("logIn", { rate: 1 }), /rate/],
  ])("refuses %s", (call, message) => {
    expect(call).toThrow(message);
  });

  it("autocompletes names, and refuses others", () => {
    // @ts-expect-error a misspelt name
    expect(() => rateLimited("sendMesage")).toThrow(/no limit/);
    // @ts-expect-error undefined is what a missing user id looks like
    expect(() => rateLimited("logIn", { key: () => undefined })).not.toThrow();
  });
});

describe("a count that is no number", () => {
  it.each([undefined, NaN])(
    "is refused where a function returns %s, and takes nothing",
    async (n) => {
      const { app, limiter, rateLimited, get } = open();
      app.get("/one", rateLimited("sendMessage", { count: () => n as number }), (c) =>
        c.text("sent"),
      );
      const several = rateLimited(["sendMessage", "perMinute"], { count: async () => n as number });
      app.get("/several", several, (c) => c.text("sent"));
      expect((await get("/one")).status).toBe(400);
      expect((await get("/several")).status).toBe(400);
      expect((await limiter.getValue("sendMessage", { key: "ada" })).value).toBe(3);
    },
  );
});
