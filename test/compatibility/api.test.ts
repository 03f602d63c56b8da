/**
 * The public types, as a review has accepted them. After an intended change, `npm run compat:api` writes
 * them again.
 */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENTRY_POINTS } from "../../scripts/entry-points.js";
import { ROOT } from "../docs/pages.js";
import { publicApi } from "./public-api.js";

const entryPoints = ENTRY_POINTS.map(({ name, specifier, types }) => ({
  path: specifier,
  file: join(ROOT, types),
  /** Has the text that was accepted. */
  accepted: `${name === "trpc-rate-limit" ? "core" : name.replace("/", "-")}.d.ts.txt`,
}));

describe("the public types", async () => {
  const texts = await publicApi(entryPoints);

  it.each(entryPoints)(
    "of $path are those that a review has accepted",
    async ({ path, accepted }) => {
      await expect(texts.get(path)).toMatchFileSnapshot(`api/${accepted}`);
    },
  );

  it("are in no file whose entry point is gone", async () => {
    const files = await readdir(join(import.meta.dirname, "api"));
    const accepted = new Set(entryPoints.map((entryPoint) => entryPoint.accepted));
    expect(files.filter((file) => !accepted.has(file))).toEqual([]);
  });
});

describe("the text of an entry point", () => {
  async function textOf(files: Record<string, string>): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "api-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const texts = await publicApi([{ path: "it", file: join(folder, "index.d.ts") }]);
    return texts.get("it")!;
  }
  const index = 'export { limit, type Result as Answer } from "./limit.js";\n';
  const limit =
    'import type { Config } from "./config.js";\n' +
    'import type { Router } from "@trpc/server";\n' +
    "/** Limits. */\nexport declare function limit(config: Config, router: Router): Result;\n" +
    "export declare function limit(config: null): Result;\n" +
    "export interface Result {\n  /** Whether. */\n  ok: boolean;\n}\n";
  const config = "export type Config = { rate: number };\nexport type Internal = string;\n";
  const files = { "index.d.ts": index, "limit.d.ts": limit, "config.d.ts": config };

  it("has what is exported and what that names, and nothing else", async () => {
    expect(await textOf(files)).toBe(
      'import type { Router } from "@trpc/server";\n' +
        "export { Result as Answer };\n\n" +
        "export interface Result {\n  ok: boolean;\n}\n\n" +
        "export function limit(config: Config, router: Router): Result;\n\n" +
        "export function limit(config: null): Result;\n\n" +
        "type Config = { rate: number };\n",
    );
  });

  it.each([
    ["a type that is named", "config.d.ts", "rate: number", "rate: string"],
    ["a field", "limit.d.ts", "ok: boolean", "isOk: boolean"],
    ["a parameter", "limit.d.ts", "router: Router", "router?: Router"],
  ] as const)("changes with %s", async (_what, file, from, to) => {
    const changed = { ...files, [file]: files[file].replace(from, to) };
    expect(await textOf(changed)).not.toBe(await textOf(files));
  });

  it("does not change with a comment or an internal type", async () => {
    const changed = {
      ...files,
      "limit.d.ts": limit.replace("Limits.", "Decides."),
      "config.d.ts": config.replace("string", "number"),
    };
    expect(await textOf(changed)).toBe(await textOf(files));
  });
});
