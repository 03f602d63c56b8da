/** Finds the database that the application uses, by its URL. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import type { DialectName } from "../../server/store/sql/driver.js";
import { CliError } from "../cli-error.js";
import { readText } from "../init/files/files.js";
import { findWorkspace } from "../init/facts/project.js";

export interface DatabaseUrl {
  dialect: DialectName;
  url: string;
  /** The absolute path of a SQLite file. */
  file: string | undefined;
  /** The options after the `?`. */
  params: URLSearchParams;
  /** The URL without user and password. */
  shown: string;
}

/** The files that Next.js and Prisma read. The first file that has a value wins. */
export const ENV_FILES = [".env.local", ".env", "prisma/.env"];

const DIALECTS: Record<string, DialectName> = {
  "postgres:": "postgresql",
  "postgresql:": "postgresql",
  "mysql:": "mysql",
  "mariadb:": "mysql",
  "file:": "sqlite",
  "libsql:": "sqlite",
};

/**
 * The protocols of Prisma Postgres, also of the local database of `prisma dev`, and of Prisma Accelerate.
 */
const PRISMA = new Set(["prisma+postgres:", "prisma:"]);

/**
 * @param given the option `--url`.
 * @throws CliError when there is no URL, or when the store cannot use the URL's kind of database.
 */
export async function findDatabaseUrl(
  root: string,
  given: string | undefined,
): Promise<DatabaseUrl> {
  // A variable with an empty value counts as not set.
  const direct = [given, process.env["DATABASE_URL"]].find(Boolean);
  const found = direct === undefined ? await findUrl(root) : undefined;
  const url = direct ?? found?.url;
  if (url === undefined) {
    throw new CliError(
      `there is no DATABASE_URL in the environment, nor in ${ENV_FILES.join(", ")}` +
        `${(await findWorkspace(root)) ? " of the workspace or its packages" : ""}; pass --url`,
    );
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && PRISMA.has(parsed.protocol)) {
    throw new CliError(
      `the URL of the database begins with ${parsed.protocol}, which only Prisma's own client reads; ` +
        "pass the direct URL of the database by --url, which begins with postgresql: or mysql:. " +
        "The Prisma Console has it, and `npx prisma dev` prints it as the one of TCP",
    );
  }
  const dialect = DIALECTS[parsed?.protocol ?? ""];
  if (parsed === undefined || dialect === undefined) {
    throw new CliError(
      "the URL of the database does not begin with postgresql:, mysql:, mariadb:, file: or libsql:",
    );
  }
  if (parsed.protocol === "file:") {
    // A path is relative to the folder of the application that reads the path.
    const file = fileOf(found?.folder ?? root, url.replace(/\?.*$/, ""));
    return { dialect, url, file, params: parsed.searchParams, shown: file };
  }
  if (parsed.pathname.includes("@")) {
    throw new CliError(
      "the password in the URL of the database has a /, which has to be %2F there",
    );
  }
  const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  return { dialect, url, file: undefined, params: parsed.searchParams, shown };
}

/**
 * Finds the URL. In a monorepo, also looks into the other packages. The packages of the applications come
 * before the package of the database and the root, because applications read the URL when they run.
 */
async function findUrl(root: string): Promise<(EnvFile & { folder: string }) | undefined> {
  const workspace = await findWorkspace(root);
  const places = workspace
    ? [...workspace.users, ...(workspace.db ? [workspace.db.member] : []), workspace.api]
    : [];
  const folders = [
    root,
    ...places.map(({ folder }) => join(workspace!.root, folder)),
    ...(workspace ? [workspace.root] : []),
  ];
  for (const folder of folders) {
    const found = await findEnvFile(folder);
    if (found !== undefined) return { ...found, folder };
  }
  return undefined;
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

/** The file from which a shell has to load `DATABASE_URL`, if there is such a file. */
export async function envFileToLoad(root: string): Promise<string | undefined> {
  return process.env["DATABASE_URL"] ? undefined : (await findEnvFile(root))?.file;
}

/**
 * The path of a SQLite file. Prisma 6 resolves a relative path from the folder of its schema; other
 * clients resolve it from the application's folder.
 */
function fileOf(root: string, url: string): string {
  if (url.startsWith("file://")) return fileURLToPath(url);
  const path = url.slice("file:".length);
  const places = [resolve(root, path), resolve(root, "prisma", path)];
  return places.find((place) => existsSync(place)) ?? places[0]!;
}
