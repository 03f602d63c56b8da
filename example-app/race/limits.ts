/** The limit of both limiters of a race, and how often a visitor may start a race. */
import { HOUR, MINUTE, type RateLimitConfig, SECOND } from "trpc-rate-limit";
import { ALLOWED } from "../shared/race-size.js";

export const raceLimits = {
  /** The package's limit in a race. The limit refills so slowly that no token comes during a race. */
  race: { kind: "token bucket", rate: ALLOWED, period: HOUR },
  /** A race is work for the server: a visitor starts five, and then one every six seconds. */
  runRace: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 5 },
  /** The races that the server starts for visitors who arrive. All visitors share this limit. */
  arrivalRace: { kind: "token bucket", rate: 30, period: MINUTE, capacity: 10 },
} as const satisfies Record<string, RateLimitConfig>;

/** How long all arriving visitors are shown the same race, ms. */
export const FRESH = 10 * SECOND;

/** How many orders there are, one after the other. */
export const ORDERS = 10;
