/** Middleware of Express, in an app of Express 5 that listens. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import express, { type Request, type Response } from "express";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isRateLimitError } from "../../../core/errors.js";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimitExpress,
  type RateLimitExpressOptions,
  SHARED_BUCKET,
} from "../../../server/express/index.js";
import {
  createRateLimiter,
  ipKey,
  memoryStore,
  MINUTE,
  pgStore,
  type RateLimitStore,
} from "../../../server/index.js";
import { createPostgres } from "../../support/database.js";
import { openStore } from "../../support/open-store.js";
import { soon } from "../../support/soon.js";

const limits = {
  sendMessage: { kind: "token bucket", rate: 3, period: MINUTE },
  perMinute: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 },
  logIn: { kind: "token bucket", rate: 2, period: MINUTE },
  slots: { kind: "concurrency", slots: 1 },
} as const;
type Options = Partial<RateLimitExpressOptions<Request, Response, typeof limits>>;

const userOf = (req: Request) => req.get("x-user") ?? null;

function open(options: Options = {}, store: RateLimitStore<never> = memoryStore() as never) {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store, limits, clock, logger: false });
  const { rateLimited } = createRateLimitExpress({ limiter, key: userOf, ...options });
  const app = express();
  return { app, clock, limiter, rateLimited };
}

/** Serves the app. Resolves with a function that asks it. */
async function serve(app: express.Express) {
  const server = app.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const get = (path = "/", user = "ada") =>
    fetch(`http://127.0.0.1:${port}${path}`, user === "" ? {} : { headers: { "x-user": user } });
  const statuses = async (count: number, path = "/", user = "ada") => {
    const found = [];
    for (let i = 0; i < count; i++) found.push((await get(path, user)).status);
    return found;
  };
  return { port, get, statuses };
}

const sent = (_req: Request, res: Response) => void res.json({ sent: true });

describe("middleware of Express", () => {
  it("lets as many requests of a user through as the limit allows", async () => {
    const { app, clock, rateLimited } = open();
    app.get("/", rateLimited("sendMessage"), sent);
    const { get, statuses } = await serve(app);
    expect(await statuses(4)).toEqual([200, 200, 200, 429]);
    expect((await get("/", "grace")).status).toBe(200);
    clock.advance(MINUTE / 3);
    expect(await statuses(2)).toEqual([200, 429]);
  });

  it("answers a denial with header fields and its facts, and tells a handler of its grant", async () => {
    const { app, rateLimited } = open();
    app.get("/", rateLimited("sendMessage"), (_req, res) => void res.json(res.locals["rateLimit"]));
    const { get, statuses } = await serve(app);
    const granted = await get();
    expect(granted.headers.get("RateLimit")).toBe('"sendMessage";r=2;t=20');
    expect(granted.headers.get("Retry-After")).toBeNull();
    expect(await granted.json()).toMatchObject({ ok: true, value: 2 });
    await statuses(2);
    const denied = await get();
    expect(denied.headers.get("Retry-After")).toBe("20");
    expect(denied.headers.get("Content-Type")).toBe("application/json");
    const error = { data: { rateLimit: await denied.json() } };
    expect(isRateLimitError(error) && error.data.rateLimit.retryAfter).toBe(MINUTE / 3);
  });

  it("charges several limits, or none, behind limits of the whole app", async () => {
    const { app, limiter, rateLimited } = open({ xRateLimit: "seconds" });
    app.use(rateLimited("perMinute"));
    app.get("/", rateLimited(["logIn", "sendMessage"]), sent);
    const { get, statuses } = await serve(app);
    const { headers } = await get();
    expect(headers.get("RateLimit")).toBe(
      '"perMinute";r=9;t=60, "logIn";r=1;t=30, "sendMessage";r=2;t=20',
    );
    // That of the route, of which fewer are left.
    expect(headers.get("X-RateLimit-Limit")).toBe("2");
    expect(await statuses(2)).toEqual([200, 429]);
    expect((await limiter.getValue("sendMessage", { key: "ada" })).value).toBe(1);
    expect((await limiter.getValue("perMinute", { key: "ada" })).value).toBe(7);
  });

  it("charges failures alone, and forgets them after a success", async () => {
    const { app, limiter, rateLimited } = open();
    const on = (res: Response) => res.statusCode === 401;
    app.get("/:word", rateLimited("logIn", { on, resetOnSuccess: true }), (req, res) => {
      const { word } = req.params as { word: string };
      if (word === "broken") throw new Error("the server's own");
      res.sendStatus(word === "right" ? 200 : 401);
    });
    app.use(
      ((_error, _req, res, _next) => void res.sendStatus(500)) as express.ErrorRequestHandler,
    );
    const { get } = await serve(app);
    const left = async () => (await limiter.getValue("logIn", { key: "ada" })).value;
    for (let i = 0; i < 3; i++) {
      expect((await get("/broken")).status).toBe(500);
      await soon(async () => expect(await left()).toBe(2));
    }
    expect((await get("/wrong")).status).toBe(401);
    expect(await left()).toBe(1);
    expect((await get("/right")).status).toBe(200);
    await soon(async () => expect(await left()).toBe(2));
    expect((await get("/wrong")).headers.get("RateLimit")).toBeNull();
    expect((await get("/wrong")).status).toBe(401);
    expect((await get("/right")).status).toBe(429);
  });

  it.each(["success", "error"] as const)("charges on %s", async (on) => {
    const { app, limiter, rateLimited } = open();
    app.get("/:status", rateLimited("sendMessage", { on }), (req, res) => {
      res.sendStatus(Number((req.params as { status: string }).status));
    });
    const { get } = await serve(app);
    const left = async () => (await limiter.getValue("sendMessage", { key: "ada" })).value;
    await get(on === "success" ? "/404" : "/204");
    await soon(async () => expect(await left()).toBe(3));
    await get(on === "success" ? "/204" : "/404");
    expect(await left()).toBe(2);
  });

  it("keeps the tokens of a request whose client has left, or guesses would be free", async () => {
    const { app, limiter, rateLimited } = open();
    const left = async () => (await limiter.getValue("logIn", { key: "ada" })).value;
    let closed = () => {};
    const closing = new Promise<void>((resolve) => (closed = resolve));
    app.get("/", rateLimited("logIn", { on: "error", resetOnSuccess: true }), (_req, res) => {
      res.once("close", () => closed());
      client.destroy();
    });
    const { port } = await serve(app);
    const client = connect(port, "127.0.0.1");
    client.write("GET / HTTP/1.1\r\nHost: localhost\r\nX-User: ada\r\n\r\n");
    await closing;
    expect(await left()).toBe(1);
  });

  it("lets no more of many guesses at once through than of guesses in a row", async () => {
    await using database = await createPostgres();
    const opened = openStore("pg", database.url);
    const { app, rateLimited } = open({}, opened.store as RateLimitStore<never>);
    app.get("/", rateLimited("logIn", { on: "error" }), (_req, res) => void res.sendStatus(401));
    const { get } = await serve(app);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(Array.from({ length: 25 }, () => get("/", `u${round}`)));
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
    }
    await opened.close();
  });

  it("takes as many tokens as the request is worth, by the config of its caller", async () => {
    const config: Options["config"] = (req) =>
      userOf(req) === "paying" ? { ...limits.perMinute, rate: 20 } : undefined;
    const { app, rateLimited } = open({ config });
    const count = (req: Request) => Number(req.query["count"]);
    app.get("/", rateLimited("perMinute", { count }), (_req, res) => {
      res.json((res.locals["rateLimit"] as { value: number }).value);
    });
    const { get } = await serve(app);
    expect(await (await get("/?count=4")).json()).toBe(6);
    expect((await get("/?count=7")).status).toBe(429);
    expect((await get("/?count=11")).status).toBe(413);
    expect((await get("/?count=-1")).status).toBe(400);
    expect(await (await get("/?count=11", "paying")).json()).toBe(9);
  });

  it("says of a request without a key that it has none, and shares a bucket where that is said", async () => {
    const { app, rateLimited } = open();
    app.get("/own", rateLimited("sendMessage"), sent);
    app.get("/shared", rateLimited("sendMessage", { key: () => SHARED_BUCKET }), sent);
    app.get("/address", rateLimited("logIn", { key: (req) => ipKey(req.ip) }), sent);
    const { get, statuses } = await serve(app);
    const refused = await get("/own", "");
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { kind: "InvalidInput", reason: "no key" },
    ]);
    expect(await statuses(4, "/shared", "")).toEqual([200, 200, 200, 429]);
    expect(await statuses(3, "/address", "")).toEqual([200, 200, 429]);
  });

  it("takes a limiter of the request", async () => {
    const { app, limiter } = open();
    const { rateLimited } = createRateLimitExpress({
      limiter: (req: Request) => (req.path === "/" ? limiter : (undefined as never)),
      key: userOf,
    });
    app.get("/", rateLimited("logIn"), sent);
    expect(await (await serve(app)).statuses(3)).toEqual([200, 200, 429]);
  });

  it("answers 503 while the store fails, and does not run the handler", async () => {
    const pool = new pg.Pool({ connectionString: "postgresql://secret@127.0.0.1:1/none" });
    onTestFinished(() => pool.end());
    const { app, rateLimited } = open({}, pgStore(pool) as never);
    const handler = vi.fn(sent);
    app.get("/", rateLimited("sendMessage"), handler);
    const answer = await (await serve(app)).get();
    expect([answer.status, await answer.json()]).toEqual([503, { kind: "StoreFailure" }]);
    expect(handler).not.toHaveBeenCalled();
  });

  it("hands errors of the application's functions to its error handler", async () => {
    const { app, rateLimited } = open({
      key: async () => {
        throw new Error("no session");
      },
    });
    app.get("/", rateLimited("sendMessage"), sent);
    app.use(((error: Error, _req, res, _next) => {
      res.status(500).send(error.message);
    }) as express.ErrorRequestHandler);
    const answer = await (await serve(app)).get();
    expect([answer.status, await answer.text()]).toEqual([500, "no session"]);
  });

  it("keeps the tokens, and says so, where the function on throws after the answer", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    const { app, limiter, rateLimited } = open();
    const on = () => {
      throw new Error("a bug");
    };
    app.get("/", rateLimited("logIn", { on }), (_req, res) => void res.sendStatus(404));
    const { get } = await serve(app);
    expect((await get()).status).toBe(404);
    await soon(() => expect(said).toHaveBeenCalledTimes(1));
    expect((await limiter.getValue("logIn", { key: "ada" })).value).toBe(1);
  });
});

describe("respond", () => {
  it("answers a denial in the application's own words, and may wait", async () => {
    const { app, rateLimited } = open({
      async respond(req, res, refusal, response) {
        await Promise.resolve();
        if (refusal.reason === "no key") return res.redirect("/log-in");
        res.status(420).set("Retry-After", response.headers.get("Retry-After") ?? "");
        res.send(`${req.path} ${refusal.reason}: ${refusal.error.message}`);
      },
    });
    app.get("/", rateLimited("logIn"), sent);
    const { get, port, statuses } = await serve(app);
    expect(await statuses(3)).toEqual([200, 200, 420]);
    const denied = await get();
    expect(denied.headers.get("Retry-After")).toBe("30");
    expect(await denied.text()).toBe(
      '/ denied: Rate limit "logIn" exceeded. Try again in 30 seconds',
    );
    const refused = await fetch(`http://127.0.0.1:${port}/`, { redirect: "manual" });
    expect([refused.status, refused.headers.get("Location")]).toEqual([302, "/log-in"]);
  });

  it("of a route goes before that of all routes, and may hand the error on", async () => {
    const { app, rateLimited } = open({ respond: (_req, res) => void res.sendStatus(418) });
    app.get("/all", rateLimited("logIn", { count: 3 }), sent);
    const respond: Options["respond"] = (_req, _res, { error }) => {
      throw error;
    };
    app.get("/own", rateLimited("logIn", { respond, count: 3 }), sent);
    app.use(((error: Error, _req, res, _next) => {
      res.status(500).send(error.name);
    }) as express.ErrorRequestHandler);
    const { get } = await serve(app);
    expect((await get("/all")).status).toBe(418);
    expect(await (await get("/own")).text()).toBe("RateLimitInputError");
  });
});

describe("the options of createRateLimitExpress", () => {
  const { limiter, rateLimited } = open();
  const create = createRateLimitExpress as (options: unknown) => unknown;
  const use = rateLimited as unknown as (names: unknown, options?: unknown) => unknown;

  it.each([
    [() => create({ limiter }), /key must be a function/],
    [() => create({ limiter, key: userOf, respond: 1 }), /respond must be a function/],
    [() => create({ limiter, key: userOf, xRateLimit: true }), /xRateLimit must be/],
    [() => create({ limiter, key: userOf, windowMs: 1 }), /windowMs is not an option/],
    [() => use("sendMesage"), /no limit "sendMesage"/],
    [() => use("slots"), /cannot hold a slot of "slots"/],
    [() => use("logIn", { on: "failure" }), /on must be "call"/],
    [() => use("logIn", { respond: 1 }), /respond must be a function/],
    [() => use("logIn", { skip: () => true }), /skip is not an option/],
  ])("refuses %s", (call, message) => {
    expect(call).toThrow(message);
  });
});
