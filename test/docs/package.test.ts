/** What `npm publish` would send. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { publishedPages, referencePages, relativeLinksOf, ROOT } from "./pages.js";

interface Packed {
  files: { path: string }[];
  /** Bytes, compressed and not. */
  size: number;
  unpackedSize: number;
}

/** The published files, each by exactly one pattern. */
const ALLOWED = [
  /^(?:package\.json|LICENSE|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|llms\.txt)$/,
  /^dist\/(?:core|server|client)\/[\w/-]+\.(?:js|d\.ts)$/,
  /^docs\/[\w/-]+\.(?:md|svg)$/,
  /^skills\/[\w/-]+\.md$/,
  /^prisma\/(?:(?:postgresql|mysql)\/)?(?:schema\.prisma|migrations\/(?:[\w-]+\/migration\.sql|migration_lock\.toml))$/,
];

/** Bytes. A package that grows past them should say why. */
const MAX_SIZE = 500_000;
const MAX_UNPACKED_SIZE = 1_600_000;

describe("the published package", async () => {
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--dry-run", "--json", "--ignore-scripts"],
    { cwd: ROOT },
  );
  const [{ files, size, unpackedSize }] = JSON.parse(stdout) as [Packed];
  const packed = files.map(({ path }) => path);

  it("has the pages and what they link to", async () => {
    for (const page of [...(await publishedPages()), ...(await referencePages())]) {
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
      exports: Record<string, string | Record<string, string>>;
    };
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target),
    );
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
    const code = packed.filter((path) => /\.(?:js|d\.ts)$/.test(path));
    const texts = await Promise.all(code.map((path) => readFile(join(ROOT, path), "utf8")));
    expect(code.filter((_, index) => texts[index]!.includes("sourceMappingURL"))).toEqual([]);
  });

  it("is small", () => {
    console.info(`${files.length} files, ${size} bytes packed, ${unpackedSize} unpacked`);
    expect(size).toBeLessThan(MAX_SIZE);
    expect(unpackedSize).toBeLessThan(MAX_UNPACKED_SIZE);
  });
});
