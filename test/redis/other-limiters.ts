/** The limiters that people move over from, as far as the tests use them: packages of this folder's project. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { RequestHandler } from "express";
import type { Redis } from "ioredis";
import type { UpstashServer } from "./upstash-server.js";

const require = createRequire(new URL("package.json", import.meta.url));
const load = <TModule>(specifier: string) => require(specifier) as TModule;
const installed = new URL("node_modules/express-rate-limit/package.json", import.meta.url);

export const hasOtherLimiters = existsSync(fileURLToPath(installed));
/** The message of a test that is skipped without these packages. */
export const NO_OTHER_LIMITERS = "needs other limiters: npm run install:test-projects";

/** What a call of rate-limiter-flexible resolves with, or rejects with. */
export interface FlexibleResult {
  remainingPoints: number;
  consumedPoints: number;
  msBeforeNext: number;
}
export interface Flexible {
  consume(key: string, points?: number): Promise<FlexibleResult>;
  get(key: string): Promise<FlexibleResult | null>;
}
type MakeFlexible = new (options: {
  points: number;
  duration: number;
  keyPrefix?: string;
  storeClient?: Redis;
}) => Flexible;

export const rateLimiterFlexible = () =>
  load<Record<"RateLimiterMemory" | "RateLimiterRedis", MakeFlexible>>("rate-limiter-flexible");

export interface UpstashResult {
  success: boolean;
  limit: number;
  remaining: number;
  reset: number;
}
export interface UpstashLimiter {
  limit(key: string, options?: { rate: number }): Promise<UpstashResult>;
  getRemaining(key: string): Promise<Omit<UpstashResult, "success">>;
}
type Window = (tokens: number, window: string) => unknown;
type MakeUpstash = (new (options: object) => UpstashLimiter) & {
  fixedWindow: Window;
  slidingWindow: Window;
  tokenBucket(refillRate: number, interval: string, maxTokens: number): unknown;
};

/** @returns the class with its algorithms, and a function that makes a limiter. */
export function upstashOn({ url, token }: UpstashServer) {
  const { Ratelimit } = load<{ Ratelimit: MakeUpstash }>("@upstash/ratelimit");
  const { Redis } = load<{ Redis: new (options: object) => object }>("@upstash/redis");
  const redis = new Redis({ url, token });
  const open = (limiter: unknown, prefix?: string) =>
    new Ratelimit({ redis, limiter, prefix, ephemeralCache: false });
  return { Ratelimit, open };
}

export type ExpressRateLimit = RequestHandler & {
  getKey(key: string): Promise<{ totalHits: number; resetTime: Date } | undefined>;
};
export const expressRateLimit = () =>
  load<{ rateLimit(options: object): ExpressRateLimit }>("express-rate-limit");

type MakeRedisStore = new (options: {
  sendCommand(name: string, ...args: string[]): Promise<unknown>;
}) => { increment(key: string): Promise<unknown> };
export const rateLimitRedis = () => load<{ RedisStore: MakeRedisStore }>("rate-limit-redis");
