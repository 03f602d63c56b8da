/**
 * Reads the project in a folder: a monorepo with packages that share one tRPC, or one application, which
 * is a project with one member.
 */
import { dirname, join, relative, sep } from "node:path";
import { glob } from "tinyglobby";
import { parse } from "yaml";
import { CliError } from "../cli-error.js";
import { findDrizzleSchema } from "./drizzle-schema.js";
import { listFiles, readText } from "./files.js";
import { type Member, type PackageJson, parsePackage, readMember, sourceWith } from "./member.js";
import { hasPrismaSchema } from "./prisma-schema.js";

export interface Project {
  root: string;
  packageJson: string;
  packageManager: "npm" | "pnpm" | "yarn" | "bun";
  scripts: ReadonlySet<string>;
  /** The text of pnpm-workspace.yaml. */
  pnpm: string | undefined;
  members: readonly Member[];
  /**
   * The package that calls `initTRPC`; without tRPC, the application. `trpcFile` is the file with the
   * call.
   */
  api: Member;
  trpcFile: string | undefined;
  /** The package with the schema of the database. */
  db: { member: Member; orm: "drizzle" | "prisma" } | undefined;
  /** The packages that use the API: servers and web applications. */
  users: readonly Member[];
}

/** A monorepo, which always has tRPC. */
export type Workspace = Project & { trpcFile: string };

/** The file of pnpm that lists the folders with packages. */
export const PNPM_WORKSPACE = "pnpm-workspace.yaml";

const TRPC = /\binitTRPC\b[\s\S]*?\.create\s*\(/;

/** @throws CliError where there is no application, such as in the root of a workspace without tRPC. */
export async function readProject(folder: string): Promise<Project> {
  return (await findWorkspace(folder)) ?? (await readApplication(folder));
}

/**
 * The monorepo around a folder, if one of its packages has the tRPC of other packages. An application
 * with its whole tRPC in its own folder is no monorepo, even inside of a workspace.
 */
export async function findWorkspace(folder: string): Promise<Workspace | undefined> {
  const found = await findRoot(folder);
  if (found === undefined) return undefined;
  const { root, globs, packageJson, pnpm } = found;
  const place = relative(root, folder).split(sep).join("/");
  const members = await readMembers(root, globs);
  const own = members.find((member) => `${place}/`.startsWith(`${member.folder}/`));
  if (place !== "" && own === undefined) return undefined;
  const candidates = members.flatMap((member) => {
    const trpcFile = sourceWith(member, TRPC);
    const users = members.filter(({ packages }) => packages.has(member.name));
    return trpcFile === undefined || users.length === 0 ? [] : [{ api: member, trpcFile, users }];
  });
  const [candidate] = candidates;
  if (candidate === undefined || candidates.length > 1) return undefined;
  const db = await findDatabase(root, members, candidate.api);
  const related = new Set([candidate.api, db?.member, ...candidate.users]);
  if (own !== undefined && !related.has(own)) return undefined;
  return { ...(await atRoot(root, packageJson)), ...candidate, pnpm, members, db };
}

/**
 * @throws CliError when there is no package.json, or when package.json only lists the packages of a
 * workspace.
 */
async function readApplication(root: string): Promise<Project> {
  const packageJson = await readText(root, "package.json");
  if (packageJson === undefined) {
    throw new CliError(
      `there is no package.json in ${root}; run this in your application's folder`,
    );
  }
  const pnpm = await readText(root, PNPM_WORKSPACE);
  await refuseWorkspace(root, parsePackage(packageJson), pnpm);
  const api = await readMember(root, "", packageJson);
  const trpcFile = sourceWith(api, TRPC) ?? sourceWith(api, /\binitTRPC\b/);
  const db = await findDatabase(root, [api], api);
  const members = [api];
  return { ...(await atRoot(root, packageJson)), pnpm, members, api, trpcFile, db, users: members };
}

async function atRoot(
  root: string,
  packageJson: string,
): Promise<Pick<Project, "root" | "packageJson" | "packageManager" | "scripts">> {
  const { packageManager, scripts = {} } = parsePackage(packageJson);
  return {
    root,
    packageJson,
    packageManager: await packageManagerOf(root, packageManager),
    scripts: new Set(Object.keys(scripts)),
  };
}

const USED_BY_APPLICATIONS = [
  "@trpc/server",
  "next",
  "express",
  "hono",
  "fastify",
  "@prisma/client",
  "prisma",
  "drizzle-orm",
  "kysely",
  "pg",
  "postgres",
  "mysql2",
  "mariadb",
  "better-sqlite3",
  "@libsql/client",
];

async function refuseWorkspace(
  root: string,
  { workspaces, dependencies, devDependencies }: PackageJson,
  pnpm: string | undefined,
): Promise<void> {
  if (workspaces === undefined && pnpm === undefined) return;
  const packages = { ...dependencies, ...devDependencies };
  if (USED_BY_APPLICATIONS.some((name) => name in packages)) return;
  const found = await listFiles(root, "", /^package\.json$/);
  const folders = found.flatMap((file) => (file.includes("/") ? file.replace(/\/[^/]*$/, "") : []));
  const shown = folders.length === 0 ? "" : `: ${folders.join(", ")}`;
  throw new CliError(
    `this is the root of a workspace and no application; run this in the folder of one${shown}`,
  );
}

const LOCK_FILES = [
  ["pnpm", "pnpm-lock.yaml"],
  ["yarn", "yarn.lock"],
  ["bun", "bun.lock"],
  ["bun", "bun.lockb"],
] as const;

async function packageManagerOf(
  root: string,
  named: string | undefined,
): Promise<Project["packageManager"]> {
  const name = named?.split("@", 1)[0];
  if (name === "npm" || name === "pnpm" || name === "yarn" || name === "bun") return name;
  for (const [manager, file] of LOCK_FILES) {
    if ((await readText(root, file)) !== undefined) return manager;
  }
  return "npm";
}

interface Root {
  root: string;
  globs: readonly string[];
  packageJson: string;
  pnpm: string | undefined;
}

/** The nearest folder that lists packages: the given folder, or a folder above it. */
async function findRoot(folder: string): Promise<Root | undefined> {
  const packageJson = await readText(folder, "package.json");
  const pnpm = await readText(folder, PNPM_WORKSPACE);
  if (packageJson !== undefined) {
    const listed = isObject(packageJson) ? parsePackage(packageJson).workspaces : undefined;
    const own = Array.isArray(listed) ? listed : (listed as { packages?: unknown })?.packages;
    const globs = [...strings(own), ...pnpmPackages(pnpm ?? "")];
    if (globs.length > 0) return { root: folder, globs, packageJson, pnpm };
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : findRoot(parent);
}

const strings = (value: unknown) =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

function isObject(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null;
  } catch {
    return false;
  }
}

function pnpmPackages(text: string): string[] {
  try {
    return strings((parse(text) as { packages?: unknown } | null)?.packages);
  } catch {
    return [];
  }
}

async function readMembers(root: string, globs: readonly string[]): Promise<Member[]> {
  const files = await glob(
    globs.map((each) => `${each.replace(/^(!?)\.\//, "$1").replace(/\/$/, "")}/package.json`),
    { cwd: root, ignore: ["**/node_modules/**"], expandDirectories: false },
  );
  const members = files.toSorted().map(async (file): Promise<Member | undefined> => {
    const packageJson = (await readText(root, file)) ?? "";
    return isObject(packageJson) ? readMember(root, dirname(file), packageJson) : undefined;
  });
  return (await Promise.all(members)).filter((member) => member !== undefined);
}

/**
 * The package with the database: the API itself, or a package that the API uses, or any other package.
 */
async function findDatabase(
  root: string,
  members: readonly Member[],
  api: Member,
): Promise<Project["db"]> {
  const order = [
    api,
    ...members.filter(({ name }) => api.packages.has(name)),
    ...members.filter((member) => member !== api && !api.packages.has(member.name)),
  ];
  for (const member of order) {
    const folder = join(root, member.folder);
    if (await hasPrismaSchema(folder)) return { member, orm: "prisma" };
    // The API's package may only use Drizzle's operators, and have no schema.
    const isKit = members.length === 1 || member.packages.has("drizzle-kit");
    if (!member.packages.has("drizzle-orm")) continue;
    if (isKit || (await findDrizzleSchema(folder))) return { member, orm: "drizzle" };
  }
  return undefined;
}
