/** What kind of application this is: its framework, its sessions, its alias for imports. */
import { CliError } from "../cli-error.js";
import { isFolder, listFiles, readText } from "./files.js";

export interface Application {
  root: string;
  packageJson: string;
  /** The packages that it names, those for development included. */
  packages: ReadonlySet<string>;
  packageManager: "npm" | "pnpm" | "yarn" | "bun";
  scripts: ReadonlySet<string>;
  /** `"t3"`: create-t3-app's App Router. `"trpc"`: another one that calls `initTRPC`. */
  kind: "t3" | "trpc" | "other";
  /** The file with `initTRPC`. */
  trpcFile: string | undefined;
  /** Whether the context of tRPC has a `session` with a `user`. */
  hasSession: boolean;
  /** The alias of a folder, such as `~/` of `src/`. */
  alias: { prefix: string; folder: string } | undefined;
  /** Whether relative imports end in `.js`. */
  importsExtensions: boolean;
  /** TypeScript sources, relative to `root`. */
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
  const sources = await listFiles(root, "", /(?<!\.d)\.[cm]?tsx?$/);
  const tsconfig = (await readText(root, "tsconfig.json")) ?? "";
  const isT3 = Object.values(T3_FILES).every((file) => sources.includes(file));
  const trpcFile = isT3 ? T3_FILES.trpc : await findSource(root, sources, /\binitTRPC\b/);
  const trpc = trpcFile === undefined ? "" : ((await readText(root, trpcFile)) ?? "");
  return {
    root,
    packageJson,
    packages: new Set(Object.keys({ ...parsed.dependencies, ...parsed.devDependencies })),
    packageManager: await packageManagerOf(root, parsed.packageManager),
    scripts: new Set(Object.keys(parsed.scripts ?? {})),
    kind: isT3 ? "t3" : trpcFile === undefined ? "other" : "trpc",
    trpcFile,
    hasSession: /\bsession\b/.test(trpc) && /\bsession\??\.user\b/.test(trpc),
    alias: aliasOf(tsconfig),
    importsExtensions: /"module(Resolution)?"\s*:\s*"node(next|16|18|20)"/i.test(tsconfig),
    sources,
  };
}

interface PackageJson {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  packageManager?: string;
}

function parsePackage(text: string): PackageJson {
  try {
    return JSON.parse(text) as PackageJson;
  } catch (cause) {
    throw new CliError("package.json is not JSON; repair it first", { cause });
  }
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
): Promise<Application["packageManager"]> {
  const name = named?.split("@", 1)[0];
  if (name === "npm" || name === "pnpm" || name === "yarn" || name === "bun") return name;
  for (const [manager, file] of LOCK_FILES) {
    if ((await readText(root, file)) !== undefined) return manager;
  }
  return "npm";
}

/** From the `paths` of tsconfig.json, which may have comments. */
function aliasOf(tsconfig: string): Application["alias"] {
  const found = /"([^"*\s]*\/)\*"\s*:\s*\[\s*"\.?\/?((?:[\w-]+\/)*)\*"\s*\]/.exec(tsconfig);
  return found === null ? undefined : { prefix: found[1]!, folder: found[2]! };
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

/** How one of the application's files imports another one. */
export function specifierOf(app: Application, from: string, to: string): string {
  const target = to.replace(/\.([cm]?)tsx?$/, app.importsExtensions ? ".$1js" : "");
  const bare = app.importsExtensions ? target : target.replace(/\/index$/, "");
  if (app.alias !== undefined && !app.importsExtensions && bare.startsWith(app.alias.folder)) {
    return app.alias.prefix + bare.slice(app.alias.folder.length);
  }
  const up = from.split("/").slice(0, -1);
  const down = bare.split("/");
  while (up.length > 0 && down.length > 1 && up[0] === down[0]) {
    up.shift();
    down.shift();
  }
  return (up.length === 0 ? "./" : "../".repeat(up.length)) + down.join("/");
}

/** Where the limits go. */
export async function limitsFileOf(app: Application): Promise<string> {
  if (app.kind === "t3") return "src/server/api/limits.ts";
  return (await isFolder(app.root, "src")) ? "src/server/limits.ts" : "server/limits.ts";
}
