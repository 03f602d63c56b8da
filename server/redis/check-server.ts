/** Checks that a server keeps its rows, and knows the commands that the scripts use. */
import { RedisSetUpError } from "./redis-errors.js";

/** The first version with PXAT of SET. Valkey began with 7.2. */
const OLDEST = [6, 2] as const;

/** @param allowsEviction whether to accept any `maxmemory-policy`, by the operator's choice. */
export async function checkServer(
  send: (args: readonly string[]) => Promise<unknown>,
  allowsEviction: boolean,
): Promise<void> {
  let info: string;
  try {
    info = String(await send(["INFO"]));
  } catch (error) {
    if (allowsEviction && isForbidden(error)) return;
    if (isForbidden(error)) throw new RedisSetUpError(FORBIDDEN);
    throw error;
  }
  const [, version] = /^redis_version:(\S+)/m.exec(info) ?? [];
  if (version !== undefined && isTooOld(version)) {
    throw new RedisSetUpError(`redisStore needs Redis 6.2 or later, or Valkey; this is ${version}`);
  }
  const [, policy] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
  if (allowsEviction || policy === undefined || policy === "noeviction") return;
  throw new RedisSetUpError(
    `maxmemory-policy of Redis is ${policy}: under memory pressure it would delete rows, and spent ` +
      "limits would be full again. Set it to noeviction, use another server, or give redisStore " +
      '`eviction: "ignore"`',
  );
}

const FORBIDDEN =
  "the user of Redis may not use INFO, so maxmemory-policy cannot be checked. Allow INFO, or make " +
  'sure that the policy is noeviction and give redisStore `eviction: "ignore"`';

function isForbidden(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown };
  return /NOPERM|unknown command|not allowed/i.test(String(message));
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
