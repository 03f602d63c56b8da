/** Finds what has to be compiled: the projects with the changed files, and the projects that use them. */
import { parse } from "jsonc-parser";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { join as joinPath } from "node:path/posix";
import { isFolder, readText } from "../files/files.js";
import { type Member, memberWith } from "../facts/member.js";
import type { Project } from "../facts/project.js";

export interface TscProject {
  /** The path of the file with the settings, relative to the root of the application. */
  config: string;
  /** The folder of the member; `""` for an application of its own. */
  folder: string;
  /** Whether the project is compiled in parts, each against what was built of the others. */
  isInParts: boolean;
  /** The path of the application's `tsc`; `undefined` if it is not installed. */
  compiler: string | undefined;
}

interface Settings {
  files?: unknown;
  include?: unknown;
  references?: { path?: string }[];
}

/** @param files changed files of code. */
export async function findTscProjects(
  { root, members }: Project,
  files: readonly string[],
): Promise<TscProject[]> {
  const folders = new Set<string>();
  for (const file of files) {
    const folder = await configFolder(root, dirname(file));
    if (folder !== undefined) folders.add(folder);
  }
  for (const { folder } of usersOf(members, files)) {
    if ((await readSettings(root, joinPath(folder, "tsconfig.json"))) !== undefined) {
      folders.add(folder === "" ? "." : folder);
    }
  }
  const found = [...folders].map(async (folder) => {
    const compiler = await compilerIn(join(root, folder));
    const configs = await expand(root, joinPath(folder, "tsconfig.json"));
    return configs.map(({ config, isInParts }) => ({
      config,
      isInParts,
      compiler,
      folder: folder === "." ? "" : folder,
    }));
  });
  return (await Promise.all(found)).flat();
}

/** The members that use members with changed files, directly or not. */
function usersOf(members: readonly Member[], files: readonly string[]): Set<Member> {
  const found = new Set(files.flatMap((file) => memberWith(members, file) ?? []));
  // Members that are added in the loop are visited, too.
  for (const { name } of found) {
    for (const user of members) if (user.packages.has(name)) found.add(user);
  }
  return found;
}

/** The nearest folder, from `folder` upwards, with a `tsconfig.json`. */
async function configFolder(root: string, folder: string): Promise<string | undefined> {
  if ((await readSettings(root, joinPath(folder, "tsconfig.json"))) !== undefined) return folder;
  return folder === "." ? undefined : configFolder(root, dirname(folder));
}

async function readSettings(root: string, config: string): Promise<Settings | undefined> {
  const text = await readText(root, config);
  if (text === undefined) return undefined;
  const parsed: unknown = parse(text, [], { allowTrailingComma: true });
  return typeof parsed === "object" ? (parsed ?? {}) : {};
}

/** A project without files of its own stands for the projects that it references. */
async function expand(
  root: string,
  config: string,
  seen = new Set<string>(),
): Promise<Pick<TscProject, "config" | "isInParts">[]> {
  const settings = seen.has(config) ? undefined : await readSettings(root, config);
  seen.add(config);
  if (settings === undefined) return [];
  const { files, include = [], references = [] } = settings;
  const isEmpty = [files, include].every((list) => Array.isArray(list) && list.length === 0);
  if (!isEmpty) return [{ config, isInParts: references.length > 0 }];
  const found = references.map(async ({ path = "" }) => {
    const target = joinPath(dirname(config), path);
    const isPath = await isFolder(root, target);
    return expand(root, isPath ? joinPath(target, "tsconfig.json") : target, seen);
  });
  return (await Promise.all(found)).flat();
}

async function compilerIn(folder: string): Promise<string | undefined> {
  try {
    const path = createRequire(join(folder, "any.js")).resolve("typescript/package.json");
    const { bin } = JSON.parse(await readFile(path, "utf8")) as { bin: { tsc: string } };
    return join(dirname(path), bin.tsc);
  } catch {
    return undefined;
  }
}
