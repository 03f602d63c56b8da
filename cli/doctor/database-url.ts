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
  return readDatabaseUrl(await findUrl(root, given));
}

export interface FoundUrl {
  url: string;
  /** The folder from which the application reads a relative path. */
  folder: string;
}

/**
 * @param given the option `--url`.
 * @throws CliError when there is no URL.
 */
export async function findUrl(root: string, given: string | undefined): Promise<FoundUrl> {
  // A variable with an empty value counts as not set.
  const direct = [given, process.env["DATABASE_URL"]].find(Boolean);
  if (direct !== undefined) return { url: direct, folder: root };
  const found = await searchUrl(root);
  if (found !== undefined) return found;
  throw new CliError(
    `there is no DATABASE_URL in the environment, nor in ${ENV_FILES.join(", ")}` +
      `${(await findWorkspace(root)) ? " of the workspace or its packages" : ""}; pass --url`,
  );
}

/** The protocols that the messages name. */
const KNOWN = ["postgresql:", "mysql:", "mariadb:", "file:", "libsql:"];

/**
 * @param known the protocols that a command supports.
 * @throws CliError when the store cannot use the URL's kind of database.
 */
export function readDatabaseUrl({ url, folder }: FoundUrl, known = KNOWN): DatabaseUrl {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && PRISMA.has(parsed.protocol)) {
    throw new CliError(
      `the URL of the database begins with ${parsed.protocol}, which only Prisma's own client reads; ` +
        "pass the direct URL of the database by --url, which begins with postgresql: or mysql:. " +
        "The Prisma Console has it, and `npx prisma dev` prints it as the one of TCP",
    );
  }
  const dialect = DIALECTS[parsed?.protocol ?? ""];
  if (parsed === undefined && /^[a-z+]+:\/\//.test(url)) throw new CliError(UNREADABLE);
  if (parsed === undefined || dialect === undefined) {
    throw new CliError(
      `the URL of the database does not begin with ${known.slice(0, -1).join(", ")} or ${known.at(-1)}`,
    );
  }
  if (parsed.protocol === "file:") {
    // A path is relative to the folder of the application that reads the path.
    const file = fileOf(folder, url.replace(/\?.*$/, ""));
    return { dialect, url, file, params: parsed.searchParams, shown: file };
  }
  checkEncoding(parsed);
  const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  return { dialect, url, file: undefined, params: parsed.searchParams, shown };
}

const UNREADABLE =
  "the URL of the database cannot be read; in its user and password, write % as %25, / as %2F, ? as %3F, " +
  "# as %23 and @ as %40";

/**
 * A password with such a character in clear begins another part of the URL, which messages would show.
 *
 * @throws CliError
 */
export function checkEncoding({ protocol, pathname, search, hash, username, password }: URL): void {
  const isCut = pathname.includes("@") || (pathname === "" && (search + hash).includes("@"));
  if (isCut) throw new CliError(UNREADABLE);
  // Clients of PostgreSQL take a % that encodes nothing for itself.
  if (protocol.startsWith("postgres")) return;
  try {
    decodeURIComponent(username + password);
  } catch {
    throw new CliError(UNREADABLE);
  }
}

/**
 * Finds the URL. In a monorepo, also looks into the other packages. The packages of the applications come
 * before the package of the database and the root, because applications read the URL when they run.
 */
async function searchUrl(root: string): Promise<FoundUrl | undefined> {
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
    if (found !== undefined) return { url: found.url, folder };
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
