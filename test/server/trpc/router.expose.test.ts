/** Limits that clients must not know. */
import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { describe, expect, it } from "vitest";
import { createRateLimiter, isRateLimitError, memoryStore, MINUTE } from "../../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "../../../server/trpc/index.js";
import { listen } from "../../support/serve-fetch.js";

const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;

async function start() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 0,
    limits: { open: config, secret: { ...config, rate: 4321, capacity: 1 } },
  });
  const t = initTRPC.context<{ user: string | null }>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    expose: ["open"],
    key: ({ ctx }) => ctx.user,
    authorize: () => true,
  });
  const router = t.router({
    rateLimit: rl.router,
    alone: t.procedure.use(rl.rateLimited("secret")).query(() => true),
    inTransaction: t.procedure.use(rl.rateLimited.transaction("secret")).query(() => true),
    both: t.procedure.use(rl.rateLimited(["open", "secret"])).query(() => true),
    large: t.procedure.use(rl.rateLimited("secret", { count: 2 })).query(() => true),
  });
  const causes: unknown[] = [];
  const host = await listen(
    createHTTPServer({
      router,
      createContext: ({ req }) => ({ user: req.headers["x-user"] === "none" ? null : "ada" }),
      responseMeta: rateLimitResponseMeta,
      onError: ({ error }) => causes.push((error.cause?.cause as Error | undefined)?.cause),
    }),
  );
  return {
    ...host,
    limiter,
    causes,
    /** The status and the whole response as text: its header fields and its body. */
    async get(path: string, user = "ada") {
      const response = await fetch(`${host.url}/${path}`, {
        headers: { "x-user": user },
      });
      const { status, headers } = response;
      const body = await response.text();
      return { status, headers, text: `${JSON.stringify([...headers])} ${body}` };
    },
  };
}

const input = (value: unknown) => `?input=${encodeURIComponent(JSON.stringify(value))}`;

describe("a limit that is not exposed", () => {
  it("is unknown to the router, and not named in its errors", async () => {
    await using app = await start();
    const status = await app.get(`rateLimit.status${input({ name: "open" })}`);
    expect(status).toMatchObject({ status: 200 });
    for (const name of ["secret", "wrong"]) {
      for (const path of ["status", "check"]) {
        const answer = await app.get(`rateLimit.${path}${input({ name })}`);
        expect(answer.status).toBe(400);
        expect(answer.text).toContain("open");
        expect(answer.text).not.toContain("secret");
      }
      const stream = await app.get(`rateLimit.watch${input({ items: [{ name }] })}`);
      expect(stream.text).toContain("BAD_REQUEST");
      expect(stream.text).not.toContain("secret");
    }
  });

  it("is not named where it grants a call", async () => {
    await using app = await start();
    const { status, headers, text } = await app.get("both");
    expect(status).toBe(200);
    expect(headers.get("RateLimit-Policy")).toBe('"open";q=1;w=60');
    expect(text).not.toContain("secret");
  });

  it.each(["alone", "inTransaction"])(
    "denies a call of %s with Retry-After and without facts",
    async (path) => {
      await using app = await start();
      await app.limiter.limit("secret", { key: "ada" });
      const { status, headers, text } = await app.get(path);
      expect(status).toBe(429);
      expect(text).toContain("Too many requests");
      expect(text).not.toMatch(/4321|secret/);
      expect(headers.get("Retry-After")).toBe("1");
      expect(headers.has("RateLimit")).toBe(false);
      // The server's log has them.
      expect(isRateLimitError(app.causes[0])).toBe(true);
    },
  );

  it("is not named in errors about a key or a count", async () => {
    await using app = await start();
    for (const [path, user, status] of [
      ["alone", "none", 400],
      ["large", "ada", 413],
    ] as const) {
      const answer = await app.get(path, user);
      expect(answer.status).toBe(status);
      expect(answer.text).not.toMatch(/rate limit|granted/i);
    }
  });

  it("does not hide the denial of one that is", async () => {
    await using app = await start();
    await app.limiter.limit("open", { key: "ada" });
    const { status, headers, text } = await app.get("both");
    expect(status).toBe(429);
    expect(headers.get("RateLimit")).toBe('"open";r=0;t=60');
    expect(text).toContain("RateLimited");
  });
});

it("an exposed name that the limiter does not have is rejected at construction", () => {
  const limiter = createRateLimiter({ store: memoryStore(), limits: { one: config, two: config } });
  for (const expose of [["typo"], "one"]) {
    const construct = () =>
      createRateLimitTRPC({
        key: SHARED_BUCKET,
        t: initTRPC.create(),
        limiter,
        expose: expose as never,
      });
    expect(construct).toThrow("expose must be a list of one, two, got");
  }
});
