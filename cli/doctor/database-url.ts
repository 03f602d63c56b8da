/** Which database the application uses, by its URL. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import type { DialectName } from "../../server/store/sql/driver.js";
import { CliError } from "../cli-error.js";
import { readText } from "../init/files.js";

export interface DatabaseUrl {
  dialect: DialectName;
  url: string;
  /** Of a SQLite file, absolute. */
  file: string | undefined;
  /** The options after the `?`. */
  params: URLSearchParams;
  /** Without user and password. */
  shown: string;
}

/** As Next.js and Prisma read them; the first one that has a value wins. */
const ENV_FILES = [".env.local", ".env", "prisma/.env"];

const DIALECTS: Record<string, DialectName> = {
  "postgres:": "postgresql",
  "postgresql:": "postgresql",
  "mysql:": "mysql",
  "mariadb:": "mysql",
  "file:": "sqlite",
  "libsql:": "sqlite",
};

/**
 * @param given the option `--url`.
 * @throws CliError when there is no URL, or it is of no database that limits can be kept in.
 */
export async function findDatabaseUrl(
  root: string,
  given: string | undefined,
): Promise<DatabaseUrl> {
  // A variable that is set to nothing is not set.
  const url = [given, process.env["DATABASE_URL"]].find(Boolean) ?? (await findEnvFile(root))?.url;
  if (url === undefined) {
    throw new CliError(
      `there is no DATABASE_URL in the environment, nor in ${ENV_FILES.join(", ")}; pass --url`,
    );
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const dialect = DIALECTS[parsed?.protocol ?? ""];
  if (parsed === undefined || dialect === undefined) {
    throw new CliError(
      "the URL of the database does not begin with postgresql:, mysql:, mariadb:, file: or libsql:",
    );
  }
  if (parsed.protocol === "file:") {
    const file = fileOf(root, url.replace(/\?.*$/, ""));
    return { dialect, url, file, params: parsed.searchParams, shown: file };
  }
  const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  return { dialect, url, file: undefined, params: parsed.searchParams, shown };
}

interface EnvFile {
  file: string;
  url: string;
}

async function findEnvFile(root: string): Promise<EnvFile | undefined> {
  for (const file of ENV_FILES) {
    const text = await readText(root, file);
    const url = text === undefined ? undefined : parseEnv(text)["DATABASE_URL"];
    if (url) return { file, url };
  }
  return undefined;
}

/** The file that a shell has to load before it knows `DATABASE_URL`, if there is one. */
export async function envFileToLoad(root: string): Promise<string | undefined> {
  return process.env["DATABASE_URL"] ? undefined : (await findEnvFile(root))?.file;
}

/** Prisma 6 reads a relative path from the folder of its schema, others from the application's. */
function fileOf(root: string, url: string): string {
  if (url.startsWith("file://")) return fileURLToPath(url);
  const path = url.slice("file:".length);
  const places = [resolve(root, path), resolve(root, "prisma", path)];
  return places.find((place) => existsSync(place)) ?? places[0]!;
}
