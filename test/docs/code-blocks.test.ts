/** Every code block of the README and of docs/ is checked against the built package. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { allPages, type Block, blocksOf, fileOf, publishedPages, ROOT } from "./pages.js";

const SCAFFOLD = fileURLToPath(new URL("scaffold/", import.meta.url));
/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL(".tmp/", import.meta.url));

/** Pages whose blocks are parts of an application that is built and tested by itself. */
const APPLICATIONS: Record<string, string> = {
  "docs/next.md": "test/t3-app",
  "docs/guides/next-16.md": "test/scaffolds/fixtures/next",
  "docs/guides/tanstack-start.md": "test/scaffolds/fixtures/start",
  "docs/guides/orpc.md": "test/hosts/guides/orpc",
  "docs/guides/elysia.md": "test/hosts/guides/elysia",
  "docs/guides/nestjs.md": "test/hosts/guides/nestjs",
};

/** Code of other packages, in guides that compare it with ours. */
const UNCHECKED = "js";
const LANGUAGES = new Set(["ts", "tsx", "prisma", "sh", "sql", "text", "html", "jsonc", UNCHECKED]);

/** What a block does not show, such as a user: the scaffold of its path. A block without imports has one. */
async function assumedBy(block: Block): Promise<string> {
  const scaffold = join(SCAFFOLD, `${fileOf(block)}.txt`);
  if (/^import /m.test(block.code) && !existsSync(scaffold)) return "";
  return readFile(scaffold, "utf8");
}

/** A block of a tab imports what the same tab of another page makes, such as the hooks for fetch. */
function codeOf({ code, tab }: Block, files: ReadonlySet<string>): string {
  if (tab === undefined) return code;
  return code.replace(/(?<=^import .* from "\.\/)(\w+)(?=\.js";$)/gm, (name) => {
    const ofTab = `${name}.${tab.toLowerCase()}`;
    return files.has(`client/${ofTab}.ts`) ? ofTab : name;
  });
}

/**
 * Copies the files that guides import and do not show. Their names end with `.txt`, because they
 * import in turn what the guides show.
 */
async function copyLeftOut(): Promise<void> {
  for (const path of await readdir(join(SCAFFOLD, "guides"), { recursive: true })) {
    if (!path.endsWith(".txt")) continue;
    const target = join(WORK, "guides", path.slice(0, -".txt".length));
    await mkdir(dirname(target), { recursive: true });
    await cp(join(SCAFFOLD, "guides", path), target);
  }
}

async function compile(project: string): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return promisify(execFile)(process.execPath, [tsc, "-p", project]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe("code blocks", async () => {
  const blocks = (await publishedPages()).flatMap(blocksOf);
  const inTypeScript = blocks.filter(({ language }) => language === "ts" || language === "tsx");
  const typed = inTypeScript.filter(({ page }) => !(page in APPLICATIONS));

  it("are in languages that this test checks", async () => {
    const elsewhere = (await allPages()).flatMap(blocksOf);
    const unknown = elsewhere.filter(({ language }) => !LANGUAGES.has(language));
    expect(unknown).toEqual([]);
    const unchecked = elsewhere.filter(
      ({ page, language }) =>
        language.startsWith("ts") && !blocks.some((block) => block.page === page),
    );
    expect(unchecked).toEqual([]);
  });

  it("name a file each, with its imports or with a scaffold that has them", async () => {
    expect(typed.length).toBeGreaterThan(15);
    for (const block of typed) {
      expect(block.path, `${block.page}: ${block.code}`).toBeDefined();
      await expect(assumedBy(block)).resolves.not.toBe(undefined);
    }
    expect(new Set(typed.map(fileOf)).size).toBe(typed.length);
  });

  it("compile", { timeout: 60_000 }, async () => {
    await rm(WORK, { recursive: true, force: true });
    await cp(SCAFFOLD, WORK, { recursive: true, filter: (path) => !path.endsWith(".txt") });
    await copyLeftOut();
    const files = new Set(typed.map(fileOf));
    for (const block of typed) {
      const file = join(WORK, fileOf(block));
      await mkdir(dirname(file), { recursive: true });
      const code = codeOf(block, files);
      await writeFile(file, `${await assumedBy(block)}\n${code}\nexport {};\n`);
    }
    expect(await compile(WORK)).toBe("");
  });

  it("do not compile once the name of a limit is wrong", { timeout: 60_000 }, async () => {
    const file = join(WORK, "guides/vite/client/app.tsx");
    const right = await readFile(file, "utf8");
    await writeFile(file, right.replace('"sendMessage"', '"sendMesage"'));
    expect(await compile(WORK)).toContain(`'"sendMesage"' is not assignable`);
    await writeFile(file, right);
  });

  it.each(Object.entries(APPLICATIONS))("of %s are parts of %s", async (about, application) => {
    // Indentation differs, because prettier formats the blocks that it can parse.
    const compact = (text: string) => text.replaceAll(/\s/g, "");
    const excerpts = inTypeScript.filter(({ page }) => page === about);
    expect(excerpts.length).toBeGreaterThan(2);
    for (const { path, code: shown } of excerpts) {
      const source = compact(await readFile(join(ROOT, application, path!), "utf8"));
      const parts = shown.slice(shown.indexOf("\n")).split(/^ *\/\/ …$/m);
      for (const part of parts) expect(source).toContain(compact(part));
    }
  });

  it("show the model of the Prisma schema", async () => {
    const schema = await readFile(join(ROOT, "prisma/schema.prisma"), "utf8");
    const models = schema.replace(/^ *\/\/.*\n/gm, "").match(/^model \w+ \{[\s\S]*?^\}/gm)!;
    expect(models.length).toBe(2);
    const shown = blocks.filter(({ language }) => language === "prisma");
    expect(shown.length).toBeGreaterThan(0);
    const others = shown.filter(({ code }) => !models.some((model) => code.includes(model)));
    expect(others).toEqual([]);
    expect(models.filter((model) => shown.some(({ code }) => code.includes(model)))).toEqual(
      models,
    );
  });

  it("show the table of each migration", async () => {
    const names = ["20261121000000_rate_limit", "20261123000000_rate_limit_override"];
    const files = ["prisma/postgresql", "prisma/mysql", "prisma"].flatMap((folder) =>
      names.map((name) => join(ROOT, folder, "migrations", name, "migration.sql")),
    );
    const migrations = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const isTable = /^CREATE TABLE/;
    const shown = blocks
      .filter(({ language, code }) => language === "sql" && isTable.test(code))
      .map(({ code }) => code);
    const tables = migrations.map((text) => text.replace("-- CreateTable\n", ""));
    expect(new Set(shown)).toEqual(new Set(tables));
  });
});

describe("commands", async () => {
  const pages = await allPages();
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };

  it.each(pages)("of $path exist", ({ text }) => {
    for (const [, script] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
      expect(Object.keys(scripts)).toContain(script);
    }
  });
});
