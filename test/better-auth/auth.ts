/** A real better-auth whose users are in memory and whose rate limits are in a store. */
import { betterAuth, type BetterAuthOptions } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { createAuthEndpoint } from "better-auth/api";
import {
  admin,
  anonymous,
  emailOTP,
  magicLink,
  organization,
  phoneNumber,
  twoFactor,
  username,
} from "better-auth/plugins";
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

/** With every plugin of better-auth whose requests name an account, and an endpoint of a stranger. */
export function createAuthOfAllAccounts(limits: BetterAuthPlugin, warnings: string[] = []) {
  return betterAuth({
    ...usersInMemory(),
    logger: { log: (level, message) => void (level === "warn" && warnings.push(message)) },
    rateLimit: { enabled: false },
    plugins: [
      admin(),
      anonymous(),
      emailOTP({ sendVerificationOTP: async () => {} }),
      magicLink({ sendMagicLink: async () => {} }),
      organization(),
      phoneNumber({ sendOTP: async () => {}, sendPasswordResetOTP: async () => {} }),
      twoFactor(),
      username(),
      {
        id: "ldap",
        endpoints: {
          signInLdap: createAuthEndpoint("/sign-in/ldap", { method: "POST" }, async (call) => {
            return call.json({ ok: false });
          }),
        },
      },
      limits,
    ],
  });
}
