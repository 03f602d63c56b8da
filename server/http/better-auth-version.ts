/**
 * The versions of better-auth that the storage and the plugin are for. Older versions charge a request in
 * two steps. The fields that name an account were looked up in 1.7.
 */
import { RateLimitConfigError } from "../../core/errors.js";

/** The oldest version of better-auth that works. */
export const OLDEST_BETTER_AUTH = "1.7";

/**
 * @param version as better-auth tells it. An unknown version passes.
 * @throws RateLimitConfigError for a version that is too old.
 */
export function demandBetterAuth(version: unknown, what: string): void {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(String(version)) ?? [];
  if (major === undefined || Number(major) > 1 || Number(minor) >= 7) return;
  const message = `${what} needs better-auth ${OLDEST_BETTER_AUTH} or later, got ${String(version)}; update better-auth`;
  throw new RateLimitConfigError("version", version, { message });
}
