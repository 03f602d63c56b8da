/** The response over HTTP when several limits of a procedure are exhausted. */
import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  type DenialMessage,
  HOUR,
  isRateLimitError,
  memoryStore,
  MINUTE,
} from "../../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "../../../server/trpc/index.js";
import { listen } from "../../support/serve-fetch.js";

const limits = {
  minute: { kind: "token bucket", rate: 1, period: MINUTE },
  hour: { kind: "token bucket", rate: 1, period: HOUR },
  day: { kind: "fixed window", rate: 1, period: DAY, start: 0 },
} as const;
type Name = keyof typeof limits;
const NAMES = Object.keys(limits) as Name[];

async function start(expose: readonly Name[] = NAMES, denialMessage?: DenialMessage) {
  const clock = () => 0;
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits, denialMessage });
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter, expose });
  const router = t.router({
    alone: t.procedure.use(rl.rateLimited("minute")).query(() => true),
    all: t.procedure.use(rl.rateLimited(NAMES)).query(() => true),
    inTransaction: t.procedure.use(rl.rateLimited.transaction(NAMES)).query(() => true),
  });
  const causes: unknown[] = [];
  const host = await listen(
    createHTTPServer({
      router,
      responseMeta: rateLimitResponseMeta,
      onError: ({ error }) => causes.push((error.cause?.cause as Error | undefined)?.cause),
    }),
  );
  return {
    ...host,
    causes,
    exhaust: (...names: Name[]) => Promise.all(names.map((name) => limiter.limit(name))),
    /** The response, its text with all header fields, and `data.rateLimit` of its body. */
    async get(path: string) {
      const response = await fetch(`${host.url}/${path}`);
      const { status, headers } = response;
      const body = (await response.json()) as {
        error: { message: string; data: { rateLimit?: object } };
      };
      const text = JSON.stringify([[...headers], body]);
      return { status, headers, text, ...body.error, rateLimit: body.error.data.rateLimit };
    },
  };
}

const PATHS = ["all", "inTransaction"];

describe("a procedure with several limits", () => {
  it.each(PATHS)("%s tells of each exhausted one, with its own wait", async (path) => {
    await using app = await start();
    await app.exhaust("minute", "day");
    const { status, headers, message, rateLimit } = await app.get(path);
    expect(status).toBe(429);
    expect(message).toBe(`Rate limit "day", "minute" exceeded. Try again in 1 day`);
    expect(rateLimit).toEqual({
      kind: "RateLimited",
      name: "day",
      retryAfter: DAY,
      value: 0,
      config: limits.day,
      now: 0,
      denials: [
        { name: "minute", retryAfter: MINUTE, value: 0, config: limits.minute },
        { name: "day", retryAfter: DAY, value: 0, config: limits.day },
      ],
    });
    expect(headers.get("Retry-After")).toBe("86400");
    expect(headers.get("RateLimit")).toBe('"day";r=0;t=86400, "minute";r=0;t=60');
    expect(headers.get("RateLimit-Policy")).toBe('"day";q=1;w=86400, "minute";q=1;w=60');
  });

  it("lists the exhausted one, also if it is the only one", async () => {
    await using app = await start();
    await app.exhaust("hour");
    expect((await app.get("all")).rateLimit).toMatchObject({
      name: "hour",
      denials: [{ name: "hour", retryAfter: HOUR }],
    });
  });

  it("is told from a procedure with one limit, whose error has no list", async () => {
    await using app = await start();
    await app.exhaust("minute");
    expect(Object.keys((await app.get("alone")).rateLimit!)).not.toContain("denials");
  });
});

/** Names all limits that it is told of. */
const own: DenialMessage = ({ name, denials = [] }) =>
  `Zu viel: ${[name, ...denials.map((denial) => denial.name)].join(" ")}`;

it("says it in the application's own words", async () => {
  await using app = await start(NAMES, own);
  await app.exhaust("minute");
  expect((await app.get("alone")).message).toBe("Zu viel: minute");
  await app.exhaust("day");
  for (const path of PATHS) {
    expect((await app.get(path)).message).toBe("Zu viel: day minute day");
  }
});

describe("several exhausted limits, of which clients may not know all", () => {
  it.each(PATHS)("%s tells the application's own words of no hidden one", async (path) => {
    await using app = await start(["minute", "day"], own);
    await app.exhaust("minute", "hour", "day");
    const { message, text } = await app.get(path);
    expect(message).toBe("Zu viel: day minute day");
    expect(text).not.toContain("hour");
    await using other = await start(["minute", "hour"], own);
    await other.exhaust("minute", "hour", "day");
    expect((await other.get(path)).message).toBe("Too many requests. Try again in 1 day");
  });

  it.each(PATHS)("%s leaves hidden ones with shorter waits out", async (path) => {
    await using app = await start(["minute", "day"]);
    await app.exhaust("minute", "hour", "day");
    const { headers, message, rateLimit, text } = await app.get(path);
    expect(message).toBe(`Rate limit "day", "minute" exceeded. Try again in 1 day`);
    expect(rateLimit).toMatchObject({
      name: "day",
      retryAfter: DAY,
      denials: [{ name: "minute" }, { name: "day" }],
    });
    expect(headers.get("RateLimit")).toBe('"day";r=0;t=86400, "minute";r=0;t=60');
    // Neither the name nor the config nor the wait, the stack of a development server included.
    expect(text).not.toMatch(/hour|3600/);
    const [cause] = app.causes;
    expect(isRateLimitError(cause) && cause.data.rateLimit.denials).toHaveLength(3);
  });

  it("cannot be told from the exhausted ones alone", async () => {
    await using app = await start(["minute", "day"]);
    await using other = await start(["minute", "day"]);
    await app.exhaust("minute", "hour", "day");
    await other.exhaust("minute", "day");
    const [{ rateLimit }, { rateLimit: same }] = [await app.get("all"), await other.get("all")];
    expect(rateLimit).toEqual(same);
  });

  it.each(PATHS)("%s gives no facts if a hidden one has the longest wait", async (path) => {
    await using app = await start(["minute", "hour"]);
    await app.exhaust("minute", "hour", "day");
    const { status, headers, message, rateLimit, text } = await app.get(path);
    expect(status).toBe(429);
    expect(message).toBe("Too many requests. Try again in 1 day");
    expect(rateLimit).toBeUndefined();
    expect(text).not.toMatch(/"minute|"hour|"day/);
    expect(headers.get("Retry-After")).toBe("86400");
    expect(headers.has("RateLimit")).toBe(false);
    const [cause] = app.causes;
    expect(isRateLimitError(cause) && cause.data.rateLimit.denials).toHaveLength(3);
  });
});
