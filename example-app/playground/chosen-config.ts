/** The config that a visitor has chosen in the playground, as the server keeps it. */
import { type RateLimitConfig, validateConfig } from "trpc-rate-limit/server";

/** Keeps the config of each visitor: in a database, or in a `Map` where there is none. */
export interface ChosenConfigs {
  /** Resolves with `undefined` for a visitor who has chosen nothing. */
  load(visitor: string): Promise<RateLimitConfig | undefined>;
  save(visitor: string, config: RateLimitConfig): Promise<void>;
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
