/** Loads packages that the application has installed, and not the packages of this command. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The module, or `undefined` if the application does not have it. */
export async function loadPackage(root: string, name: string): Promise<unknown> {
  let path: string;
  try {
    path = createRequire(join(root, "package.json")).resolve(name);
  } catch {
    return undefined;
  }
  const module = (await import(name.startsWith("node:") ? name : pathToFileURL(path).href)) as {
    default?: unknown;
  };
  // The exports of a CommonJS module are in `default`.
  return typeof module.default === "object" ? { ...module.default, ...module } : module;
}

/** The version that a file in `folder` would import. */
export async function versionOf(folder: string, name: string): Promise<string | undefined> {
  const path = join(folder, "node_modules", name, "package.json");
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text !== undefined) return (JSON.parse(text) as { version?: string }).version;
  const parent = dirname(folder);
  return parent === folder ? undefined : versionOf(parent, name);
}
