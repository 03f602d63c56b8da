/** `trpc-rate-limit/hono`: middleware for the routes of Hono, on Node, Bun, Deno and Workers. */
export { type KeyAnswer, SHARED_BUCKET, type SharedBucket } from "../limiter/types/key-answer.js";
export { createRateLimitHono } from "./create-rate-limit-hono.js";
export type { RateLimitRefusal } from "../hosts/refusal.js";
export type {
  GrantedOf,
  HonoRateLimited,
  HonoRateLimitedOptions,
  HonoRespond,
  RateLimitHonoOptions,
} from "./hono-types.js";
