/** Recognises a client of Redis by its shape, and makes the port that the store sends through. */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { RedisPort } from "../redis-port.js";
import { ioredisPort, isIoredis } from "./ioredis.js";

const EXPECTED = "a client of Redis or Valkey, such as new Redis(url) of ioredis";

/** @throws RateLimitConfigError when the client is none that is known. */
export function redisPort(client: unknown): RedisPort {
  if (isIoredis(client)) return ioredisPort(client);
  throw new RateLimitConfigError("client", client, EXPECTED);
}
