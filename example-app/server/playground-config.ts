/** The config that a visitor has chosen in the playground. */
import { type RateLimitConfig, validateConfig } from "trpc-rate-limit/server";

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
