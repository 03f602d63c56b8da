/** One package: an application of its own, or a member of a monorepo. */
import { join } from "node:path";
import { CliError } from "../../cli-error.js";
import { Code } from "../code/code.js";
import { type CodeStyle, codeStyleOf } from "../code/code-style.js";
import { listFiles, readText } from "../files/files.js";
import { type ImportStyle, readImportStyle, readTsconfig } from "./import-style.js";

export interface Member {
  /** The folder, relative to the project's root, with `/`; `""` for an application of its own. */
  folder: string;
  name: string;
  packageJson: string;
  /** All packages in package.json, including those for development. */
  packages: ReadonlySet<string>;
  /** The packages in `dependencies`, which the member needs to run. */
  dependencies: ReadonlySet<string>;
  /** The version range of each package. */
  ranges: Readonly<Record<string, string>>;
  scripts: Readonly<Record<string, string>>;
  exports: unknown;
  /**
   * The texts of the sources, by their paths relative to the root. The sources in TypeScript, or in
   * JavaScript if the member has no TypeScript.
   */
  sources: ReadonlyMap<string, string>;
  imports: ImportStyle;
  /** The style of the member's code. */
  style: CodeStyle;
  /** The ending of new files: `mjs` where `js` means CommonJS. */
  extension: "ts" | "js" | "mjs";
}

export interface PackageJson {
  name?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  packageManager?: string;
  type?: string;
  workspaces?: unknown;
  exports?: unknown;
}

export function parsePackage(text: string): PackageJson {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // The error below reports it.
  }
  throw new CliError("package.json is not a JSON object; repair it first");
}

/** The names of sources in TypeScript. */
const TYPED = /(?<!\.d)\.[cm]?tsx?$/;
const OF_TESTS = /\.(test|spec|config)\.|(^|\/)(tests?|__tests__|e2e|scripts)\//;

/** @throws CliError if package.json is no JSON object. */
export async function readMember(
  root: string,
  folder: string,
  packageJson: string,
): Promise<Member> {
  const parsed = parsePackage(packageJson);
  const { dependencies = {}, devDependencies = {}, scripts = {}, name = folder, exports } = parsed;
  const ranges = { ...dependencies, ...devDependencies };
  const own = join(root, folder);
  const tsconfig = await readTsconfig(own);
  const typed = await listFiles(root, folder, TYPED);
  const isTyped =
    tsconfig !== undefined ||
    "typescript" in ranges ||
    typed.some((file) => !/\.config\.\w+$/.test(file));
  const files = isTyped ? typed : await listFiles(root, folder, /\.[cm]?jsx?$/);
  const sources = new Map<string, string>();
  for (const file of files) {
    if (!OF_TESTS.test(file.slice(folder.length))) {
      sources.set(file, (await readText(root, file)) ?? "");
    }
  }
  const texts = [...sources.values()];
  const isModule = parsed.type === "module" || texts.some((text) => /^import\s/m.test(text));
  return {
    folder,
    name,
    packageJson,
    packages: new Set(Object.keys(ranges)),
    dependencies: new Set(Object.keys(dependencies)),
    ranges,
    scripts,
    exports,
    sources,
    imports: readImportStyle(tsconfig, texts, isTyped),
    style: codeStyleOf(texts.join("\n")),
    extension: isTyped ? "ts" : isModule ? "js" : "mjs",
  };
}

/** Frameworks that serve requests. */
const SERVING = [
  "next",
  "express",
  "hono",
  "fastify",
  "koa",
  "elysia",
  "@nestjs/core",
  "@tanstack/react-start",
  "@react-router/node",
  "@remix-run/node",
  "@sveltejs/kit",
  "nuxt",
  "astro",
];

type Dependencies = Pick<Member, "dependencies">;

export const servesItself = ({ dependencies }: Dependencies): boolean =>
  SERVING.some((name) => dependencies.has(name));

export const isApplication = (member: Dependencies): boolean =>
  servesItself(member) || member.dependencies.has("@trpc/server");

/** The path of a member's file, from the root. */
export function inFolder({ folder }: Pick<Member, "folder">, file: string): string {
  return folder === "" ? file : `${folder}/${file}`;
}

/** The member with a file: the innermost one. */
export function memberWith(members: readonly Member[], file: string): Member | undefined {
  const around = members.filter(({ folder }) => folder === "" || file.startsWith(`${folder}/`));
  return around.toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

/** The same. A file of no member counts for the first one. */
export function memberOf(members: readonly Member[], file: string): Member {
  return memberWith(members, file) ?? members[0]!;
}

/** The path of a file, from the member's own folder. */
export function insideOf({ folder }: Pick<Member, "folder">, file: string): string {
  return folder === "" ? file : file.slice(folder.length + 1);
}

/** The first source with a text that matches. */
export function sourceWith({ sources }: Member, pattern: RegExp): string | undefined {
  return [...sources].find(([, text]) => pattern.test(text))?.[0];
}

/**
 * The first source in which `pick` finds something.
 *
 * @param hint matches each text in which `pick` can find something: other files are not parsed.
 */
export function findInCode<T>(
  { sources }: Member,
  hint: RegExp,
  pick: (code: Code) => T | undefined,
): { file: string; code: Code; found: T } | undefined {
  for (const [file, text] of sources) {
    const code = hint.test(text) ? Code.read(file, text) : undefined;
    const found = code && pick(code);
    if (code && found !== undefined) return { file, code, found };
  }
  return undefined;
}

/**
 * All sources that match, parsed.
 *
 * @param hint matches each text that is wanted: other files are not parsed.
 */
export function codesIn({ sources }: Member, hint: RegExp): Code[] {
  return [...sources].flatMap(([file, text]) =>
    hint.test(text) ? (Code.read(file, text) ?? []) : [],
  );
}
