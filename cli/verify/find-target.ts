/** Finds the database that `verify` runs on: one of SQL, or a server of Redis. */
import { CliError } from "../cli-error.js";
import {
  checkEncoding,
  type DatabaseUrl,
  findUrl,
  readDatabaseUrl,
} from "../doctor/database-url.js";

export type Target =
  | { kind: "sql"; url: DatabaseUrl }
  /** `shown` is the URL without user and password. */
  | { kind: "redis"; url: string; shown: string };

const REDIS = /^(?:redis|rediss|valkey|valkeys):$/;
const KNOWN = ["postgresql:", "mysql:", "mariadb:", "file:", "libsql:", "redis:", "rediss:"];

/**
 * @param given the option `--url`.
 * @throws CliError when there is no URL, or when no store can use it.
 */
export async function findTarget(root: string, given: string | undefined): Promise<Target> {
  const found = await findUrl(root, given);
  const parsed = URL.canParse(found.url) ? new URL(found.url) : undefined;
  if (parsed && REDIS.test(parsed.protocol)) {
    checkEncoding(parsed);
    if (!/^\/?\d*$/.test(parsed.pathname)) {
      throw new CliError("the URL of Redis has to end in the number of a database, such as /0");
    }
    // Clients know Valkey by the protocol of Redis.
    const spoken = parsed.href.replace(/^valkey/, "redis");
    const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
    return { kind: "redis", url: spoken, shown };
  }
  const url = readDatabaseUrl(found, KNOWN);
  if (url.dialect === "mysql" && parsed!.pathname.length < 2) {
    throw new CliError("the URL names no database, as in mysql://HOST/DATABASE");
  }
  return { kind: "sql", url };
}

export function shownOf(target: Target): string {
  return target.kind === "sql" ? target.url.shown : target.shown;
}
