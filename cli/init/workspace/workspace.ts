/** The packages of a monorepo, and which of them has tRPC, the database, and the applications. */
import { dirname, join, relative, sep } from "node:path";
import { type PackageJson, packageManagerOf, parsePackage, TYPED } from "../application.js";
import { listFiles, readText } from "../files.js";
import { planDrizzle } from "../drizzle-schema.js";
import { hasPrismaSchema } from "../prisma-schema.js";

/** A package of a monorepo. */
export interface Member {
  /** Relative to the monorepo's root, with `/`. */
  folder: string;
  name: string;
  packageJson: string;
  /** All that it names, for development included. */
  packages: ReadonlySet<string>;
  exports: unknown;
  /** Its files of TypeScript, relative to the monorepo's root, with their texts. */
  sources: ReadonlyMap<string, string>;
}

export interface Workspace {
  root: string;
  packageJson: string;
  packageManager: Awaited<ReturnType<typeof packageManagerOf>>;
  scripts: ReadonlySet<string>;
  /** The text of pnpm-workspace.yaml. */
  pnpm: string | undefined;
  members: readonly Member[];
  /** The package that calls `initTRPC`, and its file that does. */
  api: Member;
  trpcFile: string;
  /** The package with the schema of the database. */
  db: { member: Member; orm: "drizzle" | "prisma" } | undefined;
  /** The packages that use the API: servers and web applications. */
  users: readonly Member[];
}

/** The text that says which folders have packages. */
export const PNPM_WORKSPACE = "pnpm-workspace.yaml";

/**
 * The monorepo around a folder, if one of its packages has the tRPC of others. An application that
 * has all of it in its own folder is none, wherever it lies.
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
    const trpcFile = sourceWith(member, /\binitTRPC\b[\s\S]*?\.create\(/);
    const users = members.filter(({ packages }) => packages.has(member.name));
    return trpcFile === undefined || users.length === 0 ? [] : [{ api: member, trpcFile, users }];
  });
  const [candidate] = candidates;
  if (candidate === undefined || candidates.length > 1) return undefined;
  const db = await findDatabase(root, members, candidate.api);
  const related = new Set([candidate.api, db?.member, ...candidate.users]);
  if (own !== undefined && !related.has(own)) return undefined;
  const parsed = parsePackage(packageJson);
  return {
    ...candidate,
    root,
    packageJson,
    packageManager: await packageManagerOf(root, parsed.packageManager),
    scripts: new Set(Object.keys(parsed.scripts ?? {})),
    pnpm,
    members,
    db,
  };
}

/** The first source that matches. Configs and tests are none. */
export function sourceWith({ sources }: Member, pattern: RegExp): string | undefined {
  return [...sources].find(([, text]) => pattern.test(text))?.[0];
}

interface Root {
  root: string;
  globs: readonly string[];
  packageJson: string;
  pnpm: string | undefined;
}

/** The folder, or the nearest one above it, that lists packages. */
export async function findRoot(folder: string): Promise<Root | undefined> {
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
    return typeof (JSON.parse(text) as unknown) === "object";
  } catch {
    return false;
  }
}

/** The list of the file, which is YAML. */
function pnpmPackages(text: string): string[] {
  const [, list = ""] = /^packages:[ \t]*\n((?:[ \t]*(?:-.*|#.*)?\n)+)/m.exec(`${text}\n`) ?? [];
  return [...list.matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm)].map(([, glob]) => glob!);
}

async function readMembers(root: string, globs: readonly string[]): Promise<Member[]> {
  const patterns = globs.filter((glob) => !glob.startsWith("!")).map(patternOf);
  const files = await listFiles(root, "", /^package\.json$/);
  const members = files.map(async (file): Promise<Member | undefined> => {
    const folder = dirname(file);
    const packageJson = (await readText(root, file)) ?? "";
    if (!patterns.some((pattern) => pattern.test(folder)) || !isObject(packageJson))
      return undefined;
    const parsed = parsePackage(packageJson) as PackageJson & { name?: string; exports?: unknown };
    const { dependencies, devDependencies, name = folder, exports } = parsed;
    const packages = new Set(Object.keys({ ...dependencies, ...devDependencies }));
    const sources = await readSources(root, folder);
    return { folder, name, packageJson, packages, exports, sources };
  });
  return (await Promise.all(members)).filter((member) => member !== undefined);
}

const OF_TESTS = /\.(test|spec|config)\.|(^|\/)(tests?|__tests__|e2e|scripts)\//;

async function readSources(root: string, folder: string): Promise<Map<string, string>> {
  const files = await listFiles(root, folder, TYPED);
  const own = files.filter((file) => !OF_TESTS.test(file.slice(folder.length)));
  const texts = own.map(async (file): Promise<[string, string]> => [
    file,
    (await readText(root, file)) ?? "",
  ]);
  return new Map(await Promise.all(texts));
}

function patternOf(glob: string): RegExp {
  const parts = glob.replace(/^\.\//, "").replace(/\/$/, "").split("/");
  const texts = parts.map((part) =>
    part === "**" ? ".+" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*"),
  );
  return new RegExp(`^${texts.join("/")}$`);
}

/** That of the API itself, or of a package that it uses, or any other one. */
async function findDatabase(
  root: string,
  members: readonly Member[],
  api: Member,
): Promise<Workspace["db"]> {
  const order = [
    api,
    ...members.filter(({ name }) => api.packages.has(name)),
    ...members.filter((member) => member !== api && !api.packages.has(member.name)),
  ];
  for (const member of order) {
    const folder = join(root, member.folder);
    if (await hasPrismaSchema(folder)) return { member, orm: "prisma" };
    const drizzle = await planDrizzle(folder, member.packages);
    if (drizzle !== undefined && (drizzle.table ?? member.packages.has("drizzle-kit"))) {
      return { member, orm: "drizzle" };
    }
  }
  return undefined;
}

/** How another package imports one of a member's files, as far as its `exports` allow. */
export function specifierTo({ name, folder, exports }: Member, file: string): string | undefined {
  const path = `./${file.slice(folder.length + 1)}`;
  if (exports === undefined) return `${name}/${path.slice(2).replace(/\.tsx?$/, "")}`;
  const entries =
    typeof exports === "object" && exports !== null && !Array.isArray(exports)
      ? Object.entries(exports)
      : [[".", exports] as const];
  for (const [key, target] of entries) {
    for (const text of targetsOf(target)) {
      const [start, end] = text.split("*") as [string, string | undefined];
      if (end === undefined ? text !== path : !path.startsWith(start) || !path.endsWith(end)) {
        continue;
      }
      const middle = path.slice(start.length, path.length - (end ?? "").length);
      return name + key.slice(1).replace("*", middle);
    }
  }
  return undefined;
}

function targetsOf(target: unknown): string[] {
  if (typeof target === "string") return [target];
  if (typeof target !== "object" || target === null) return [];
  return Object.values(target).flatMap(targetsOf);
}
