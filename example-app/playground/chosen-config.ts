/** The config that a visitor has chosen in the playground. */
import { TRPCError } from "@trpc/server";
import {
  type RateLimitConfig,
  type RateLimitConfigError,
  validateConfig,
} from "trpc-rate-limit/server";
import { BOUNDS } from "./limits.js";

/** What the form sends. Times are in ms. */
export interface PlaygroundChoice {
  kind: RateLimitConfig["kind"];
  rate: number;
  period: number;
  capacity: number;
  shards: number;
  blockFor?: number | undefined;
}

/** @returns `undefined` for the limit's own config, and for a text that is none. */
export function playgroundConfig(text: string): RateLimitConfig | undefined {
  if (text === "") return undefined;
  try {
    const config = JSON.parse(text) as RateLimitConfig;
    validateConfig(config);
    return config;
  } catch {
    return undefined;
  }
}

/** @throws TRPCError `BAD_REQUEST`, with a message that the form shows. */
export function configOfChoice(choice: PlaygroundChoice): RateLimitConfig {
  for (const option of ["rate", "period", "capacity", "shards", "blockFor"] as const) {
    const value = choice[option];
    const { min, max } = BOUNDS[option];
    if (value === undefined || (value >= min && value <= max)) continue;
    const range = `from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
    throw new TRPCError({ code: "BAD_REQUEST", message: `${option} must be ${range}` });
  }
  const { blockFor, ...chosen } = choice;
  // Without a bound, reservations could owe tokens for years.
  const config = { ...chosen, maxReserved: chosen.capacity, ...(blockFor && { blockFor }) };
  try {
    validateConfig(config, "limit");
  } catch (error) {
    const { message } = error as RateLimitConfigError;
    throw new TRPCError({ code: "BAD_REQUEST", message });
  }
  return config;
}
