/** What kind of application this is: its framework, its packages, its sources. */
import { CliError } from "../cli-error.js";
import { isFolder, listFiles, readText } from "./files.js";
import { type ImportStyle, readImportStyle, readTsconfig } from "./import-style.js";
import { type CodeStyle, codeStyleOf } from "./code-style.js";

export interface Application {
  root: string;
  packageJson: string;
  /** The packages that it names, those for development included. */
  packages: ReadonlySet<string>;
  /** Those without which it does not run. */
  dependencies: ReadonlySet<string>;
  packageManager: "npm" | "pnpm" | "yarn" | "bun";
  scripts: ReadonlySet<string>;
  /** `"t3"`: create-t3-app's App Router. `"trpc"`: another one that calls `initTRPC`. */
  kind: "t3" | "trpc" | "other";
  /** The file with `initTRPC`. */
  trpcFile: string | undefined;
  /** Whether the context of tRPC has a `session` with a `user`. */
  hasSession: boolean;
  imports: ImportStyle;
  /** How its own code is written, in the file that new code is nearest to. */
  style: CodeStyle;
  /** What new files end in: `mjs` where `js` is CommonJS. */
  extension: "ts" | "js" | "mjs";
  /** Sources in TypeScript, or in JavaScript if there are no others, relative to `root`. */
  sources: readonly string[];
}

export const T3_FILES = {
  trpc: "src/server/api/trpc.ts",
  root: "src/server/api/root.ts",
  react: "src/trpc/react.tsx",
};

/** @throws CliError when there is no package.json. */
export async function readApplication(root: string): Promise<Application> {
  const packageJson = await readText(root, "package.json");
  if (packageJson === undefined) {
    throw new CliError(
      `there is no package.json in ${root}; run this in your application's folder`,
    );
  }
  const parsed = parsePackage(packageJson);
  const { dependencies = {}, devDependencies = {}, scripts = {} } = parsed;
  const packages = new Set(Object.keys({ ...dependencies, ...devDependencies }));
  await refuseWorkspace(root, parsed, packages);
  const tsconfig = await readTsconfig(root);
  const typed = await listFiles(root, "", TYPED);
  const isTyped =
    tsconfig !== undefined ||
    packages.has("typescript") ||
    typed.some((file) => !/\.config\.\w+$/.test(file));
  const sources = isTyped ? typed : await listFiles(root, "", /\.[cm]?jsx?$/);
  const isT3 = Object.values(T3_FILES).every((file) => sources.includes(file));
  const trpcFile = isT3 ? T3_FILES.trpc : await findSource(root, sources, /\binitTRPC\b/);
  const trpc = trpcFile === undefined ? "" : ((await readText(root, trpcFile)) ?? "");
  const texts = await Promise.all(sources.map(async (file) => (await readText(root, file)) ?? ""));
  const isModule = parsed.type === "module" || texts.some((text) => /^import\s/m.test(text));
  return {
    root,
    packageJson,
    packages,
    dependencies: new Set(Object.keys(dependencies)),
    packageManager: await packageManagerOf(root, parsed.packageManager),
    scripts: new Set(Object.keys(scripts)),
    kind: isT3 ? "t3" : trpcFile === undefined ? "other" : "trpc",
    trpcFile,
    hasSession: /\bsession\b/.test(trpc) && /\bsession\??\.user\b/.test(trpc),
    imports: readImportStyle(tsconfig, texts, isTyped),
    style: codeStyleOf(trpc === "" ? texts.join("\n") : trpc),
    extension: isTyped ? "ts" : isModule ? "js" : "mjs",
    sources,
  };
}

/** The names of sources in TypeScript. */
export const TYPED = /(?<!\.d)\.[cm]?tsx?$/;

const WORKSPACES = "pnpm-workspace.yaml";

/** @throws CliError in the folder that only holds the applications of a workspace. */
async function refuseWorkspace(
  root: string,
  { workspaces }: PackageJson,
  packages: ReadonlySet<string>,
): Promise<void> {
  if (workspaces === undefined && (await readText(root, WORKSPACES)) === undefined) return;
  if (USED_BY_APPLICATIONS.some((name) => packages.has(name))) return;
  const found = await listFiles(root, "", /^package\.json$/);
  const folders = found.flatMap((file) => (file.includes("/") ? file.replace(/\/[^/]*$/, "") : []));
  const shown = folders.length === 0 ? "" : `: ${folders.join(", ")}`;
  throw new CliError(
    `this is the root of a workspace and no application; run this in the folder of one${shown}`,
  );
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

export interface PackageJson {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  packageManager?: string;
  type?: string;
  workspaces?: unknown;
}

export function parsePackage(text: string): PackageJson {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // Said below.
  }
  throw new CliError("package.json is not a JSON object; repair it first");
}

const LOCK_FILES = [
  ["pnpm", "pnpm-lock.yaml"],
  ["yarn", "yarn.lock"],
  ["bun", "bun.lock"],
  ["bun", "bun.lockb"],
] as const;

export async function packageManagerOf(
  root: string,
  named: string | undefined,
): Promise<Application["packageManager"]> {
  const name = named?.split("@", 1)[0];
  if (name === "npm" || name === "pnpm" || name === "yarn" || name === "bun") return name;
  for (const [manager, file] of LOCK_FILES) {
    if ((await readText(root, file)) !== undefined) return manager;
  }
  return "npm";
}

/** The first source whose text matches. */
export async function findSource(
  root: string,
  sources: readonly string[],
  pattern: RegExp,
): Promise<string | undefined> {
  for (const file of sources) {
    if (pattern.test((await readText(root, file)) ?? "")) return file;
  }
  return undefined;
}

/** Where the limits go: into the folder that the server's code is in already, as far as one can tell. */
export async function limitsFileOf(app: Application): Promise<string> {
  return `${await limitsFolderOf(app)}limits.${app.extension}`;
}

async function limitsFolderOf({ root, kind, packages, sources }: Application): Promise<string> {
  if (kind === "t3") return "src/server/api/";
  for (const folder of ["src/server", "server"]) {
    if (await isFolder(root, folder)) return `${folder}/`;
  }
  // Next has its own files there, such as src/middleware.ts.
  if (sources.some((file) => /^src\/[^/]+$/.test(file)) && !packages.has("next")) return "src/";
  return (await isFolder(root, "src")) ? "src/server/" : "server/";
}
