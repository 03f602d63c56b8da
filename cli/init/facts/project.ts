/**
 * Reads the project around a folder: the packages of a workspace that belong to one API, or one
 * application, which is a project with one member.
 */
import { join, relative, sep } from "node:path";
import { CliError } from "../../cli-error.js";
import { findDrizzleSchema } from "./drizzle-config.js";
import { readText } from "../files/files.js";
import {
  isApplication,
  type Member,
  parsePackage,
  readMember,
  servesItself,
  sourceWith,
} from "./member.js";
import { type PackageManager, packageManagerIn } from "./package-manager.js";
import { hasPrismaSchema } from "./prisma-schema.js";
import { findRoot, PNPM_WORKSPACE, readMembers } from "./workspace.js";

export interface Project {
  root: string;
  packageJson: string;
  packageManager: PackageManager;
  /** The scripts of the root. */
  scripts: Readonly<Record<string, string>>;
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
  /** The packages that use the API: servers and web applications, the API itself included. */
  users: readonly Member[];
}

const TRPC = /\binitTRPC\b[\s\S]*?\.create\s*\(/;

/** @throws CliError where there is no application, such as in the root of a workspace of several. */
export async function readProject(folder: string): Promise<Project> {
  return (await findWorkspace(folder)) ?? (await readApplication(folder));
}

/** The part of a workspace that belongs to a folder. `undefined` where the folder is not in one. */
export async function findWorkspace(folder: string): Promise<Project | undefined> {
  const found = await findRoot(folder);
  if (found === undefined) return undefined;
  const { root, globs, packageJson, pnpm } = found;
  const place = relative(root, folder).split(sep).join("/");
  const members = await readMembers(root, globs);
  const own = members.find((member) => `${place}/`.startsWith(`${member.folder}/`));
  if (own === undefined && place !== "") return undefined;
  const chosen = chooseApi(members, own);
  const db = chosen && (await findDatabase(root, members, chosen.api));
  const common = { ...(await atRoot(root, packageJson)), pnpm, members };
  if (chosen && (!own || chosen.users.includes(own) || own === chosen.api || own === db?.member)) {
    return { ...common, ...chosen, db };
  }
  // The root may itself be the application.
  const isRoot = own === undefined && isApplication(dependenciesIn(packageJson));
  // A page without a server of its own belongs to the only one.
  const only = onlyOne(members.filter(isApplication));
  const api = own && (isApplication(own) || !isPage(own)) ? own : (only ?? own);
  if (api === undefined || isRoot) return undefined;
  const trpcFile = undefined;
  return { ...common, api, trpcFile, users: [api], db: await findDatabase(root, members, api) };
}

/** The API of a package, or of the whole workspace if there is one, or one that others share. */
function chooseApi(members: readonly Member[], own: Member | undefined) {
  const all = members.flatMap((api) => {
    const trpcFile = sourceWith(api, TRPC);
    return trpcFile === undefined ? [] : [{ api, trpcFile, users: usersOf(members, api) }];
  });
  return (
    all.find(({ api }) => api === own) ??
    (own && onlyOne(all.filter(({ users }) => users.includes(own)))) ??
    onlyOne(all.filter(({ api, users }) => users.some((user) => user !== api))) ??
    onlyOne(all)
  );
}

const isPage = ({ packages }: Member) => packages.has("react-dom");

const onlyOne = <T>(all: readonly T[]): T | undefined => (all.length === 1 ? all[0] : undefined);

/** Those who use the API. An API that serves itself is its own user, too. */
function usersOf(members: readonly Member[], api: Member): Member[] {
  const others = members.filter(({ packages }) => packages.has(api.name));
  return others.length === 0 || servesItself(api) ? [...others, api] : others;
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
  await refuseWorkspace(root, packageJson);
  const pnpm = await readText(root, PNPM_WORKSPACE);
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
  const { scripts = {} } = parsePackage(packageJson);
  const packageManager = (await packageManagerIn(root)) ?? "npm";
  return { root, packageJson, packageManager, scripts };
}

const dependenciesIn = (packageJson: string) => ({
  dependencies: new Set(Object.keys(parsePackage(packageJson).dependencies ?? {})),
});

/** Refuses the root of a workspace that is no application, and names the applications in it. */
async function refuseWorkspace(root: string, packageJson: string): Promise<void> {
  const found = await findRoot(root);
  if (found?.root !== root || isApplication(dependenciesIn(packageJson))) return;
  const members = await readMembers(root, found.globs);
  const applications = members.filter(isApplication).map(({ folder }) => folder);
  const shown = applications.length === 0 ? "" : `: ${applications.join(", ")}`;
  throw new CliError(
    `this is the root of a workspace and no application; run this in the folder of one${shown}`,
  );
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
