/** The files that `npm publish` would send. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishedPages, REFERENCE, relativeLinksOf, ROOT } from "./pages.js";

const run = promisify(execFile);

/** Entry points, and the files of each condition. */
interface Targets {
  [key: string]: string | Targets;
}

const targetsOf = (target: string | Targets): string[] =>
  typeof target === "string" ? [target] : Object.values(target).flatMap(targetsOf);

interface Packed {
  filename: string;
  /** With their size in bytes. */
  files: { path: string; size: number }[];
  /** Bytes, compressed. */
  size: number;
}

/** The published files, each by exactly one pattern. */
const ALLOWED = [
  /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|llms\.txt)$/,
  /^dist\/(?:core|server|client|testing)\/[\w/-]+\.(?:js|d\.c?ts)$/,
  /^dist\/client\/admin\/admin\.css(?:\.d\.ts)?$/,
  /^dist\/client\/react\/styles\.css(?:\.d\.ts)?$/,
  /^dist\/cli\/(?:[\w-]+\.js|THIRD-PARTY-LICENSES\.md)$/,
  /^docs\/[\w/-]+\.(?:md|svg)$/,
  /^docs\/grafana-dashboard\.json$/,
  /^skills\/[\w/-]+\.md$/,
  /^prisma\/(?:(?:postgresql|mysql)\/)?(?:schema\.prisma|migrations\/(?:[\w-]+\/migration\.sql|migration_lock\.toml))$/,
];

/**
 * Bytes, with the reference where it was generated. A package that grows past them should say why:
 * the command has brought parsers of JSON, YAML and TypeScript; Bun, Cloudflare, Hono, tabs, Redis, leases, slots, credits,
 * ids, overrides, holds, usage and model calls their code and pages; CommonJS declarations of its own; the
 * admin router its code, its types in the reference, and a dashboard; the control room its component and its views;
 * the devtools their timeline and actions; the comments their nouns, so that a sentence is read once;
 * the middleware of Express its code and its types; warnings, as many as fit, and the spans and months of
 * usage their code and types; the command what it knows of workspaces and clients, and its check by tsc;
 * limits over fetch their code and types; the keys with the most their sums and messages;
 * overrides that lie over each other, and what operators change, their code, types and views; verify its code.
 */
const MAX_SIZE = 1_350_000;
const MAX_UNPACKED_SIZE = 4_060_000;

describe("the published package", async () => {
  const application = await mkdtemp(join(tmpdir(), "published-"));
  afterAll(() => rm(application, { recursive: true, force: true }));
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", application];
  const { stdout } = await run("npm", pack, { cwd: ROOT });
  const [{ filename, files, size }] = JSON.parse(stdout) as [Packed];
  const packed = files.map(({ path }) => path);

  it("has the pages and what they link to", async () => {
    for (const page of await publishedPages()) {
      expect(packed).toContain(page.path);
      for (const link of relativeLinksOf(page)) {
        const file = link.split("#")[0]!;
        const target = file === "" ? page.path : normalize(join(dirname(page.path), file));
        const isPacked = packed.some((path) => path === target || path.startsWith(`${target}/`));
        expect(isPacked, `${page.path} links to ${link}`).toBe(true);
      }
    }
  });

  it.each(["prisma", "prisma/postgresql", "prisma/mysql"])("has the migration of %s", (folder) => {
    const sql = packed.filter((path) => path.startsWith(`${folder}/migrations/`));
    expect(sql.some((path) => path.endsWith("migration.sql"))).toBe(true);
  });

  it("has the code and the types of every entry point", async () => {
    const { exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      exports: Targets;
    };
    const targets = targetsOf(exports);
    expect(targets.length).toBeGreaterThan(2);
    for (const target of targets) expect(packed).toContain(normalize(target));
  });

  it("has the changes, the license, and nothing that users cannot use", () => {
    expect(packed).toEqual(expect.arrayContaining(["LICENSE", "CHANGELOG.md", "README.md"]));
    expect(packed.filter((path) => !ALLOWED.some((pattern) => pattern.test(path)))).toEqual([]);
    // Tests of the package itself, which an allowed folder could hold.
    expect(packed.filter((path) => /\.test\.|(?:^|\/)test\//.test(path))).toEqual([]);
  });

  it("has code that names no source map, because it has none", async () => {
    const code = packed.filter((path) => /\.(?:js|d\.c?ts)$/.test(path));
    const texts = await Promise.all(code.map((path) => readFile(join(ROOT, path), "utf8")));
    expect(code.filter((_, index) => texts[index]!.includes("sourceMappingURL"))).toEqual([]);
  });

  describe("in an application that has installed it, and nothing else", () => {
    const modules = join(application, "node_modules");
    beforeAll(async () => {
      await writeFile(join(application, "package.json"), JSON.stringify({ name: "application" }));
      // From the tarball alone: whatever had to be fetched would be a package of others.
      // An empty cache: from one that knows of some peers, npm might conclude that they conflict.
      const cache = `--cache=${join(application, "cache")}`;
      const install = ["install", "--offline", cache, "--no-audit", "--no-fund", `./${filename}`];
      await run("npm", install, { cwd: application });
    });

    it("brings no other package", async () => {
      const installed = await readdir(modules);
      expect(installed.filter((name) => !name.startsWith("."))).toEqual(["trpc-rate-limit"]);
      expect(await readdir(join(modules, "trpc-rate-limit"))).not.toContain("node_modules");
    });

    it("has a command that runs, and shows its changes as a diff", async () => {
      const command = join(modules, ".bin/trpc-rate-limit");
      const { stdout: shown } = await run(command, ["init", "--dry-run"], { cwd: application });
      expect(shown).toContain("+++ b/server/limits.mjs");
      expect(shown).toContain("Nothing was written");
    });

    it("has the licence of every package that is part of the command", async () => {
      const file = join(modules, "trpc-rate-limit/dist/cli/THIRD-PARTY-LICENSES.md");
      const licences = await readFile(file, "utf8");
      const sections = licences.split(/^## /m).slice(1);
      const bundled = sections.map((section) => section.slice(0, section.indexOf(" - ")));
      // What asks, what compares texts, and what finds places in JSON, YAML and code.
      const expected = [
        "@babel/parser",
        "@clack/core",
        "@clack/prompts",
        "diff",
        "jsonc-parser",
        "magic-string",
        "tinyglobby",
        "yaml",
      ];
      expect(bundled).toEqual(expect.arrayContaining(expected));
      for (const section of sections) expect(section).toMatch(/copyright/i);
    });
  });

  it("is small", () => {
    // Without the reference, which may have been written or not.
    const own = files.filter(({ path }) => !path.startsWith(REFERENCE));
    const unpackedSize = own.reduce((sum, file) => sum + file.size, 0);
    console.info(`${own.length} files, ${size} bytes packed, ${unpackedSize} unpacked`);
    expect(size).toBeLessThan(MAX_SIZE);
    expect(unpackedSize).toBeLessThan(MAX_UNPACKED_SIZE);
  });
});
