/** What the package exports is documented or shown: the rest is not for its users. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { publishedPages, ROOT } from "./pages.js";

async function exampleSources(): Promise<string[]> {
  const files = await readdir(join(ROOT, "example-app"), { recursive: true });
  const sources = files.filter((file) => /^(?!dist|.*generated).*\.tsx?$/.test(file));
  return Promise.all(sources.map((file) => readFile(join(ROOT, "example-app", file), "utf8")));
}

/** The entry points with code, as their users write them. */
async function entryPoints(): Promise<string[]> {
  const { name, exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | object>;
  };
  const withCode = Object.entries(exports).filter(
    ([path, target]) => typeof target === "object" && !path.endsWith(".css"),
  );
  return withCode.map(([path]) => join(name, path));
}

describe("every function and constant", async () => {
  const pages = await publishedPages();
  const shown = [...pages.map(({ text }) => text), ...(await exampleSources())].join("\n");

  it.each(await entryPoints())("of %s is on a page or in the example", async (entryPoint) => {
    const exported = Object.keys((await import(entryPoint)) as object);
    expect(exported.length).toBeGreaterThan(0);
    expect(exported.filter((name) => !new RegExp(`\\b${name}\\b`).test(shown))).toEqual([]);
  });
});
