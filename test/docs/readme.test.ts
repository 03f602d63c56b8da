/** Every TypeScript block of the README compiles, against the package as it is built. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCAFFOLD = fileURLToPath(new URL("scaffold/", import.meta.url));
/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL(".tmp/", import.meta.url));

interface Block {
  language: string;
  /** From the comment on its first line. */
  path: string | undefined;
  code: string;
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!,
    path: /^\/\/ (\S+\.tsx?)\n/.exec(code!)?.[1],
  }));
}

async function compile(project: string): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return promisify(execFile)(process.execPath, [tsc, "-p", project]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe("the README", async () => {
  const blocks = blocksOf(await readFile(join(ROOT, "README.md"), "utf8"));
  const typed = blocks.filter(({ language }) => language.startsWith("ts"));

  it("names a file for each of its TypeScript blocks, with what it assumes around it", async () => {
    expect(typed.length).toBeGreaterThan(6);
    for (const { path } of typed) {
      expect(path).toBeDefined();
      await expect(readFile(join(SCAFFOLD, `${path}.txt`), "utf8")).resolves.toContain("import");
    }
  });

  it("compiles", async () => {
    await rm(WORK, { recursive: true, force: true });
    await cp(SCAFFOLD, WORK, { recursive: true, filter: (path) => !path.endsWith(".txt") });
    for (const { path, code } of typed) {
      const assumed = await readFile(join(SCAFFOLD, `${path}.txt`), "utf8");
      await mkdir(dirname(join(WORK, path!)), { recursive: true });
      await writeFile(join(WORK, path!), `${assumed}\n${code}\nexport {};\n`);
    }
    expect(await compile(WORK)).toBe("");
  });

  it("does not compile once a name in it is wrong", async () => {
    const file = join(WORK, "client/limits.tsx");
    const right = await readFile(file, "utf8");
    await writeFile(
      file,
      right.replace('useRateLimit("sendMessage")', 'useRateLimit("sendMesage")'),
    );
    expect(await compile(WORK)).toContain(`'"sendMesage"' is not assignable`);
    await writeFile(file, right);
  });

  it("mentions only commands that exist", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    for (const [, script] of readme.matchAll(/npm run ([\w:]+)/g)) {
      expect(Object.keys(scripts)).toContain(script);
    }
  });

  it("backs its guarantees with tests that exist by those names", async () => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const section = /^## Guarantees$([\s\S]*?)^## /m.exec(readme)![1]!;
    const backed = [...section.matchAll(/`(test\/[^`]+)`(?:, ((?:"[^"]+"(?: and )?)+))?/g)];
    expect(backed.length).toBeGreaterThan(5);
    for (const [, file, titles = ""] of backed) {
      const source = await readFile(join(ROOT, file!), "utf8");
      for (const [, title] of titles.matchAll(/"([^"]+)"/g)) expect(source).toContain(title);
    }
  });
});
