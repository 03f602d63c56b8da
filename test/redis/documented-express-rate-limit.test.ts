/** The guide for Express beside express-rate-limit: its two blocks, and the options of its table. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimitExpress,
  type ExpressRateLimitedOptions,
  type RateLimitExpressOptions,
} from "../../server/express/index.js";
import { createRateLimiter, HOUR, memoryStore } from "../../server/index.js";
import { redisStore } from "../../server/redis/index.js";
import { blocksOf, readPage } from "../docs/pages.js";
import { importBlock, importCode } from "../support/docs-module.js";
import {
  expressRateLimit,
  hasOtherLimiters,
  NO_OTHER_LIMITERS,
  rateLimitRedis,
} from "./other-limiters.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";

const PAGE = "docs/guides/express.md";
const missing = missingForRedis() ?? (hasOtherLimiters ? undefined : NO_OTHER_LIMITERS);

/** Serves an app. Resolves with a function that asks it for an answer of the status that a header says. */
async function serve(use: (app: Express) => void) {
  const app = express();
  use(app);
  app.use((req, res) => void res.status(Number(req.get("x-status") ?? 200)).end("handled"));
  const server = app.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  return (headers: Record<string, string> = {}) => fetch(url, { headers });
}

const limits = { api: { kind: "fixed window", rate: 2, period: HOUR } } as const;
const allowing = { api: { ...limits.api, whenStoreFails: "allow" } } as const;

interface Here
  extends
    Partial<RateLimitExpressOptions<Request, Response, typeof limits>>,
    Pick<ExpressRateLimitedOptions<Request, Response>, "on"> {
  redis?: Redis;
}

function here({ on, redis, ...host }: Here = {}): RequestHandler {
  const store = redis === undefined ? memoryStore() : redisStore(redis);
  const limiter = createRateLimiter({ store, limits: redis ? allowing : limits, logger: false });
  const options = { key: () => "all", ...host, limiter };
  const { rateLimited } = createRateLimitExpress<typeof limits, Request, Response>(options);
  return rateLimited("api", { on });
}

const there = (options: object = {}): RequestHandler =>
  expressRateLimit().rateLimit({ windowMs: HOUR, limit: 2, validate: false, ...options });

const isInternal = (req: Request) => req.get("x-internal") === "yes";
const userOf = (req: Request) => req.get("x-user") ?? "nobody";
const asked = (times: number, status: number, headers: Record<string, string> = {}) =>
  Array.from({ length: times }, () => ({ "x-status": `${status}`, ...headers }));

interface Row {
  option: string;
  old(): RequestHandler;
  now(): RequestHandler;
  requests: Record<string, string>[];
  /** The statuses that both answer. */
  statuses: number[];
}
const ROWS: Row[] = [
  {
    option: "limit as a function",
    old: () => there({ limit: (req: Request) => (userOf(req) === "ann" ? 3 : 1) }),
    now: () =>
      here({
        key: userOf,
        config: (req) => ({ ...limits.api, rate: userOf(req) === "ann" ? 3 : 1 }),
      }),
    requests: asked(4, 200, { "x-user": "ann" }),
    statuses: [200, 200, 200, 429],
  },
  {
    option: "keyGenerator",
    old: () => there({ keyGenerator: userOf }),
    now: () => here({ key: userOf }),
    requests: ["ann", "ann", "ann", "bob"].map((user) => ({ "x-user": user })),
    statuses: [200, 200, 429, 200],
  },
  {
    option: "skip",
    old: () => there({ skip: isInternal }),
    now() {
      const limited = here();
      return (req, res, next) => void (isInternal(req) ? next() : limited(req, res, next));
    },
    requests: [...asked(3, 200, { "x-internal": "yes" }), ...asked(3, 200)],
    statuses: [200, 200, 200, 200, 200, 429],
  },
  {
    option: "skipSuccessfulRequests",
    old: () => there({ skipSuccessfulRequests: true }),
    now: () => here({ on: "error" }),
    requests: [...asked(3, 200), ...asked(3, 401)],
    statuses: [200, 200, 200, 401, 401, 429],
  },
  {
    option: "skipSuccessfulRequests, with requestWasSuccessful",
    old: () =>
      there({
        skipSuccessfulRequests: true,
        requestWasSuccessful: (_req: Request, res: Response) => res.statusCode !== 401,
      }),
    now: () => here({ on: (res) => res.statusCode === 401 }),
    requests: [...asked(3, 500), ...asked(3, 401)],
    statuses: [500, 500, 500, 401, 401, 429],
  },
  {
    option: "skipFailedRequests",
    old: () => there({ skipFailedRequests: true }),
    now: () => here({ on: "success" }),
    requests: [...asked(3, 500), ...asked(3, 200)],
    statuses: [500, 500, 500, 200, 200, 429],
  },
  {
    option: "handler",
    old: () => there({ handler: (_req: Request, res: Response) => res.status(418).end("no") }),
    now: () => here({ respond: (_req, res) => void res.status(418).end("no") }),
    requests: asked(3, 200),
    statuses: [200, 200, 418],
  },
];

describe.runIf(missing !== undefined)("express-rate-limit", () => {
  it("is compared with the guide for Express", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("in place of express-rate-limit", () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.port, { enableOfflineQueue: false, retryStrategy: null });
    redis.on("error", () => {});
    await once(redis, "ready");
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it("lets as many requests pass as before, with the same header fields", async () => {
    const { code } = blocksOf(await readPage(PAGE)).find(({ language }) => language === "js")!;
    const before = await importCode<{
      limitApi(app: Express, redis: Redis, rateLimit: unknown, RedisStore: unknown): void;
    }>(`export function limitApi(app, redis, rateLimit, RedisStore) {${few(code)}}`);
    const after = await importBlock<{ limitApi(app: Express, redis: Redis): void }>(
      PAGE,
      "express/api.ts",
      (text) => `${IMPORTS}export function limitApi(app, redis) {${fromNow(few(text))}}`,
    );
    const { rateLimit } = expressRateLimit();
    const { RedisStore } = rateLimitRedis();
    const answersOf = async (use: (app: Express) => void) => {
      const ask = await serve(use);
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push(shownOf(await ask()));
      return answers;
    };
    const old = await answersOf((app) => before.limitApi(app, redis, rateLimit, RedisStore));
    expect(old.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(await answersOf((app) => after.limitApi(app, redis))).toEqual(old);
  });

  it.each(ROWS)("answers as with its option: $option", async ({ old, now, requests, statuses }) => {
    for (const middleware of [old(), now()]) {
      const ask = await serve((app) => app.use("/api", middleware));
      const found = [];
      for (const headers of requests) found.push((await ask(headers)).status);
      expect(found).toEqual(statuses);
    }
  });

  it("answers as with its option: passOnStoreError", async () => {
    const { RedisStore } = rateLimitRedis();
    const sendCommand = (name: string, ...args: string[]) => redis.call(name, ...args);
    const silent = { error() {}, warn() {} };
    const store = new RedisStore({ sendCommand });
    const middlewares = [there({ passOnStoreError: true, store, logger: silent }), here({ redis })];
    await server.kill();
    for (const middleware of middlewares) {
      const ask = await serve((app) => app.use("/api", middleware));
      expect((await ask()).status).toBe(200);
    }
  });
});

/** What the page leaves out. */
const IMPORTS = `
import { createRateLimitExpress } from "trpc-rate-limit/express";
import { redisStore } from "trpc-rate-limit/redis";
import { createRateLimiter, ipKey, MINUTE } from "trpc-rate-limit/server";
`;
/** A window that begins with the test, as there. */
const fromNow = (code: string) =>
  code.replace("period: MINUTE }", "period: MINUTE, start: Date.now() }");

/** The code of the page, with a limit that is soon used up. */
const few = (code: string) => code.replace(/(?<=limit: |rate: )100/, "3");

/** What an answer says, but for the instants. */
function shownOf({ status, headers }: globalThis.Response) {
  const get = (name: string) => headers.get(name)?.replaceAll("; ", ";") ?? "";
  return {
    status,
    policy: /;q=\d+;w=\d+/.exec(get("RateLimit-Policy"))?.[0],
    rest: /;r=\d+;t=/.exec(get("RateLimit"))?.[0],
    limit: get("X-RateLimit-Limit"),
    remaining: get("X-RateLimit-Remaining"),
    hasReset: headers.has("X-RateLimit-Reset"),
    hasWait: headers.has("Retry-After"),
  };
}
