/** Looks whether what edits import is there. This needs no compiler, and no packages that are installed. */
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path/posix";
import { Code } from "../code/code.js";
import { importsOf } from "../code/imports.js";
import { readText } from "../files/files.js";
import { type Member, memberWith, parsePackage } from "../facts/member.js";
import type { Change, Plan } from "../plan.js";
import type { Project } from "../facts/project.js";

export interface MissingImport {
  file: string;
  from: string;
}

/** The first import of a plan that does not lead to a file, or to a package of package.json. */
export async function missingImport(
  project: Project,
  plan: Plan,
): Promise<MissingImport | undefined> {
  for (const { file, before = "", after } of plan.changes) {
    const present = new Set(sourcesIn(file, before));
    for (const from of sourcesIn(file, after)) {
      if (!present.has(from) && !(await isThere(project, plan, file, from))) return { file, from };
    }
  }
  return undefined;
}

function sourcesIn(file: string, text: string): string[] {
  const code = /\.[cm]?[jt]sx?$/.test(file) ? Code.read(file, text) : undefined;
  return code ? importsOf(code).map(({ source }) => source.value) : [];
}

async function isThere(project: Project, plan: Plan, file: string, from: string): Promise<boolean> {
  const member = memberWith(project.members, file);
  const { prefix, folder } = member?.imports.alias ?? {};
  const isFile = (path: string) => isSource(project, plan.changes, path);
  if (from.startsWith(".")) return isFile(join(dirname(file), from));
  if (prefix !== undefined && from.startsWith(prefix)) {
    return isFile(join(member!.folder, folder!, from.slice(prefix.length)));
  }
  const name = /^(@[\w.-]+\/)?[\w.-]+/.exec(from)?.[0];
  // All else is resolved by settings that are unknown here, such as `#app`.
  if (name === undefined || member === undefined || isBuiltin(from)) return true;
  return isPackage(project, plan, member, name);
}

const NAME = "trpc-rate-limit";
const ENDINGS = ["ts", "tsx", "d.ts", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

async function isSource(
  { root }: Project,
  changes: readonly Change[],
  path: string,
): Promise<boolean> {
  // The ending of a JavaScript file may mean the TypeScript file.
  const bare = path.replace(/\.([cm]?)jsx?$/, "");
  const places = [
    path,
    ...ENDINGS.flatMap((ending) =>
      [bare, path, join(path, "index")].map((each) => `${each}.${ending}`),
    ),
  ];
  for (const place of new Set(places)) {
    if (changes.some(({ file }) => file === place)) return true;
    if ((await readText(root, place)) !== undefined) return true;
  }
  return false;
}

function isPackage({ packageJson }: Project, plan: Plan, member: Member, name: string) {
  const textOf = (file: string, text: string) =>
    plan.changes.find((change) => change.file === file)?.after ?? text;
  const root = textOf("package.json", packageJson);
  const own = textOf(join(member.folder, "package.json"), member.packageJson);
  const lists = (text: string) => {
    const { dependencies, devDependencies, peerDependencies } = parsePackage(text);
    return name in { ...dependencies, ...devDependencies, ...peerDependencies };
  };
  return (
    lists(own) ||
    lists(root) ||
    name === member.name ||
    // Without a list, the package manager adds this package, or the author.
    (name === NAME && !plan.changes.some(({ after }) => after.includes(`"${NAME}":`))) ||
    plan.byHand.some(({ lines }) => lines.startsWith(`"${name}":`)) ||
    // The application resolves it by other means, such as the settings of the compiler.
    [...member.sources.values()].some((text) => new RegExp(`["']${name}["'/]`).test(text))
  );
}
