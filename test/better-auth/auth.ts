/** A real better-auth whose users are in memory and whose rate limits are in a store. */
import { betterAuth, type BetterAuthOptions } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import type { BetterAuthPlugin } from "../../server/http/better-auth-plugin.js";
import {
  betterAuthStorage,
  type BetterAuthStorage,
} from "../../server/http/better-auth-storage.js";

type Limiter = Parameters<typeof betterAuthStorage>[0];

const usersInMemory = () => ({
  baseURL: "http://localhost",
  secret: "a secret of 32 characters or more, for tests",
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  logger: { disabled: true },
});

export function createAuth(
  limiter: Limiter,
  options?: Parameters<typeof betterAuthStorage>[1],
  rateLimit?: BetterAuthOptions["rateLimit"],
) {
  const customStorage: BetterAuthStorage = betterAuthStorage(limiter, options);
  return betterAuth({
    ...usersInMemory(),
    rateLimit: { enabled: true, ...rateLimit, customStorage },
    advanced: { ipAddress: { ipAddressHeaders: ["x-real-ip"] } },
  });
}

/** With limits of plugins alone. */
export function createLimitedAuth(...plugins: BetterAuthPlugin[]) {
  return betterAuth({
    ...usersInMemory(),
    rateLimit: { enabled: false },
    plugins,
  });
}
