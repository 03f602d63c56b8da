/** Finds the database that `verify` runs on: one of SQL, or a server of Redis. */
import { CliError } from "../cli-error.js";
import { type DatabaseUrl, findDatabaseUrl } from "../doctor/database-url.js";

export type Target =
  | { kind: "sql"; url: DatabaseUrl }
  /** `shown` is the URL without user and password. */
  | { kind: "redis"; url: string; shown: string };

const REDIS = /^(?:redis|rediss|valkey|valkeys):$/;

/**
 * @param given the option `--url`.
 * @throws CliError when there is no URL, or when no store can use it.
 */
export async function findTarget(root: string, given: string | undefined): Promise<Target> {
  const url = [given, process.env["DATABASE_URL"]].find(Boolean);
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && REDIS.test(parsed.protocol)) {
    if (parsed.pathname.includes("@")) {
      throw new CliError("the password in the URL of Redis has a /, which has to be %2F there");
    }
    // Clients know Valkey by the protocol of Redis.
    const spoken = parsed.href.replace(/^valkey/, "redis");
    const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
    return { kind: "redis", url: spoken, shown };
  }
  return { kind: "sql", url: await findDatabaseUrl(root, given) };
}

export function shownOf(target: Target): string {
  return target.kind === "sql" ? target.url.shown : target.shown;
}
