/** What the application's functions and the store do wrong, and what the client learns of it. */
import { describe, expect, it, vi } from "vitest";
import {
  createRateLimiter,
  createRateLimitHandler,
  type HandlerKeyOptions,
  memoryStore,
  MINUTE,
  SHARED_BUCKET,
} from "../../../../server/index.js";
import { frailStore } from "../../../support/frail-store.js";

const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;
const limits = { send: config, other: config };

const ask = (query: Record<string, string>) =>
  new Request(`http://x/?${new URLSearchParams(query)}`);
const STATUS = { action: "status", name: "send" };
const list = (...names: string[]) => ({
  action: "status",
  items: JSON.stringify(names.map((name) => ({ name }))),
});

function handlerWith(key: (options: HandlerKeyOptions<undefined, string>) => string | null) {
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  return { limiter, handler: createRateLimitHandler({ limiter, key }) };
}

describe("a response that key throws", () => {
  const logIn = () => new Response("log in", { status: 401 });

  it("is the answer, also to a list and to a stream", async () => {
    const { handler } = handlerWith(() => {
      throw logIn();
    });
    for (const query of [STATUS, list("send", "other"), { ...list("send"), action: "watch" }]) {
      const response = await handler(ask(query));
      expect([response.status, await response.text()]).toEqual([401, "log in"]);
    }
  });

  it("is the answer to the whole list where one limit alone has it", async () => {
    const { handler } = handlerWith(({ name }) => {
      if (name === "other") throw logIn();
      return "ada";
    });
    expect((await handler(ask(list("send", "other")))).status).toBe(401);
  });

  it("may be a class of the host's own", async () => {
    class HostResponse {
      readonly status = 418;
      get [Symbol.toStringTag]() {
        return "Response";
      }
    }
    const thrown = new HostResponse();
    const { handler } = handlerWith(() => {
      throw thrown;
    });
    expect(await handler(ask(STATUS))).toBe(thrown);
  });
});

it("answers a denial that key throws with 429 and Retry-After", async () => {
  const { limiter, handler } = handlerWith(() => "ada");
  await limiter.limit("other", { key: "address" });
  const limited = createRateLimitHandler({
    limiter,
    key: async () => {
      await limiter.limit("other", { key: "address", throws: true });
      return "ada";
    },
  });
  const response = await limited(ask(STATUS));
  expect(response.status).toBe(429);
  expect(response.headers.get("Retry-After")).toBe("60");
  expect(await response.json()).toMatchObject({ kind: "RateLimited", name: "other" });
  expect((await limited(ask(list("send")))).status).toBe(429);
  expect((await handler(ask(STATUS))).status).toBe(200);
});

describe("an error of the application", () => {
  it.each([new Error("a bug"), null, undefined, "text", { status: 418 }])(
    "is thrown for the host: %j",
    async (error) => {
      const { handler } = handlerWith(() => {
        throw error;
      });
      for (const query of [STATUS, list("send"), { ...list("send"), action: "watch" }]) {
        const settled = await handler(ask(query)).then(
          () => "answered",
          (reason: unknown) => ({ reason }),
        );
        expect(settled).toEqual({ reason: error });
      }
    },
  );

  it("is that key ignores the requested key", async () => {
    const { handler } = handlerWith(() => "ada");
    expect((await handler(ask({ ...STATUS, key: "bob" }))).status).toBe(400);
  });

  it("is a key that is not valid, of which the client learns", async () => {
    const { handler } = handlerWith(() => "k".repeat(192));
    const response = await handler(ask(STATUS));
    expect([response.status, await response.json()]).toMatchObject([400, { code: "BAD_REQUEST" }]);
  });

  it("is a plan of no limiter, which is thrown", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      plans: ["free"],
      limits: { send: { kind: "token bucket", period: MINUTE, plans: { free: 1 } } },
    });
    const handler = createRateLimitHandler({
      limiter,
      key: SHARED_BUCKET,
      plan: (() => "pro") as never,
    });
    await expect(handler(ask(STATUS))).rejects.toThrow("pro");
  });
});

describe("a store that fails", () => {
  const { store, state } = frailStore();
  state.is = "failing";
  const limiter = createRateLimiter({ store, limits, logger: false });
  const handler = createRateLimitHandler({
    limiter,
    key: SHARED_BUCKET,
    authorize: () => true,
  });

  it("is 503 without internals, for each action", async () => {
    const post = (action: string) =>
      new Request("http://x/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ action, name: "send" }),
      });
    const requests = [
      ask(STATUS),
      ask({ ...STATUS, action: "check" }),
      post("limit"),
      post("reset"),
    ];
    for (const request of requests) {
      const response = await handler(request);
      expect([response.status, await response.json()]).toEqual([
        503,
        { code: "SERVICE_UNAVAILABLE", message: "Rate limits cannot be checked right now" },
      ]);
    }
  });

  it("is 503 for each limit of a list", async () => {
    const response = await handler(ask(list("send", "other")));
    expect(response.status).toBe(200);
    const item = { status: 503, error: { code: "SERVICE_UNAVAILABLE" } };
    expect(await response.json()).toMatchObject([item, item]);
  });
});

describe("the context", () => {
  it("is made once for a request of many limits, of the request and the further arguments", async () => {
    const context = vi.fn(async (request: Request, user: string) => ({ user, url: request.url }));
    const key = vi.fn(({ ctx }: { ctx: { user: string } }) => ctx.user);
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    const handler = createRateLimitHandler({ limiter, context, key });
    await limiter.limit("send", { key: "ada" });
    const request = ask(list("send", "other"));
    expect(await (await handler(request, "ada")).json()).toMatchObject([
      { snapshot: { value: expect.closeTo(0, 2) as number } },
      { snapshot: { value: 1 } },
    ]);
    expect(context.mock.calls).toEqual([[request, "ada"]]);
    const ctx = { user: "ada", url: request.url };
    const requested = undefined;
    expect(key.mock.calls.map(([call]) => call)).toEqual([
      { request, ctx, name: "send", requested },
      { request, ctx, name: "other", requested },
    ]);
  });

  it("is not made for a request that is refused anyway", async () => {
    const context = vi.fn();
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    const handler = createRateLimitHandler({ limiter, context, key: SHARED_BUCKET });
    for (const query of [{}, { ...STATUS, name: "nope" }, list()]) {
      expect((await handler(ask(query))).status).toBe(400);
    }
    expect(context).not.toHaveBeenCalled();
  });

  it("that throws a response answers with it", async () => {
    const handler = createRateLimitHandler({
      limiter: createRateLimiter({ store: memoryStore(), limits }),
      context: () => {
        throw Response.redirect("https://example.com/log-in");
      },
      key: SHARED_BUCKET,
    });
    expect((await handler(ask(STATUS))).status).toBe(302);
  });
});
