/** Versions of better-auth that are too old for the storage, or for the plugin. */
import { betterAuth as betterAuth15 } from "better-auth-1-5";
import { memoryAdapter as memoryAdapter15 } from "better-auth-1-5/adapters/memory";
import { betterAuth as betterAuth16 } from "better-auth-1-6";
import { memoryAdapter as memoryAdapter16 } from "better-auth-1-6/adapters/memory";
import type { BetterAuthPlugin } from "../../server/http/better-auth-plugin.js";
import type { BetterAuthStorage } from "../../server/http/better-auth-storage.js";

const noUsers = () => ({ user: [], session: [], account: [], verification: [] });
const common = {
  baseURL: "http://localhost",
  secret: "a secret of 32 characters or more, for tests",
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  logger: { disabled: true },
  advanced: { ipAddress: { ipAddressHeaders: ["x-real-ip"] } },
};

interface Parts {
  customStorage?: BetterAuthStorage;
  plugins?: BetterAuthPlugin[];
}

/** @param parts of this package. Their types are those of newer versions. */
const optionsOf = ({ customStorage, plugins = [] }: Parts) => ({
  ...common,
  rateLimit: {
    enabled: customStorage !== undefined,
    customStorage: customStorage as never,
    // The rule of better-auth is 3 in 10 s, in which a busy machine compares fewer passwords.
    customRules: { "/sign-in/email": { window: 3600, max: 3 } },
  },
  plugins: plugins as never,
});

/** It has no `consume` of a storage. */
export const createAuth15 = (parts: Parts) =>
  betterAuth15({ ...optionsOf(parts), database: memoryAdapter15(noUsers()) });

/** Its last version calls `consume` where it is there. */
export const createAuth16 = (parts: Parts) =>
  betterAuth16({ ...optionsOf(parts), database: memoryAdapter16(noUsers()) });
