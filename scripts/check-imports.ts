/**
 * Keeps the arrows between the folders pointing one way: `core` imports nothing, `server` and
 * `client` import `core`, the client knows the server by its types only, and the example uses the
 * package as its users do, by name.
 */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Rule {
  folder: string;
  /** Folders and packages that it may import, by their start; its own folder goes without saying. */
  may: readonly string[];
  /** What it may import as types only. */
  mayType: readonly string[];
}

const RULES: readonly Rule[] = [
  { folder: "core", may: [], mayType: [] },
  { folder: "server", may: ["core", "@trpc/server", "zod"], mayType: [] },
  {
    folder: "client",
    may: ["core", "@trpc/client", "@trpc/server/observable", "@tanstack/react-query", "react"],
    mayType: ["server", "@trpc/server"],
  },
  {
    folder: "example-app",
    may: ["trpc-rate-limit", "@", "node:", "react", "react-dom", "cookie", "sirv", "vite", "zod"],
    mayType: [],
  },
];

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^;"']*?\sfrom\s)?["']([^"']+)["'];/gm;

async function problemsOf({ folder, may, mayType }: Rule): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true });
  const sources = entries.filter((file) => /\.tsx?$/.test(file) && !/generated|dist/.test(file));
  const problems = sources.map(async (file) => {
    const path = join(ROOT, folder, file);
    const imports = [...(await readFile(path, "utf8")).matchAll(IMPORT)];
    return imports.flatMap(([, type, specifier = ""]) => {
      const target = specifier.startsWith(".")
        ? relative(ROOT, join(dirname(path), specifier))
        : specifier;
      const allowed = [folder, ...may, ...(type ? mayType : [])];
      const fine = allowed.some((start) => target === start || under(target, start));
      return fine ? [] : [`${folder}/${file} must not import ${type ?? ""}${specifier}`];
    });
  });
  return (await Promise.all(problems)).flat();
}

function under(target: string, start: string): boolean {
  return target.startsWith(/[@:]$/.test(start) ? start : `${start}/`);
}

const problems = (await Promise.all(RULES.map(problemsOf))).flat();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
