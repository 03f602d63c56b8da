/** What both limiters of a race allow, and how often a visitor may start one. */
import { HOUR, MINUTE, type RateLimitConfig } from "trpc-rate-limit";

/** How many tokens a racer may take. */
export const ALLOWED = 10;

export const raceLimits = {
  /** The package's limit in a race. It refills so slowly that no token comes meanwhile. */
  race: { kind: "token bucket", rate: ALLOWED, period: HOUR },
  /** A race is work for the server: a visitor starts five, and then one every six seconds. */
  runRace: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 5 },
} as const satisfies Record<string, RateLimitConfig>;

/** How many calls each of the two processes makes at once. */
export const CALLS = 25;

/** How many orders there are, one after the other. */
export const ORDERS = 10;
