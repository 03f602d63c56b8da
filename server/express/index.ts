/** `trpc-rate-limit/express`: middleware for the routes of Express 4 and 5. */
export { type KeyAnswer, SHARED_BUCKET, type SharedBucket } from "../limiter/types/key-answer.js";
export { createRateLimitExpress } from "./create-rate-limit-express.js";
export type { RateLimitRefusal } from "../hosts/refusal.js";
export type {
  ExpressMiddleware,
  ExpressRateLimited,
  ExpressRateLimitedOptions,
  ExpressRequest,
  ExpressRespond,
  ExpressResponse,
  RateLimitExpressOptions,
} from "./express-types.js";
