/** The examples of docstrings compile. Editors show them, and the reference has them. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./pages.js";

const SCAFFOLD = fileURLToPath(new URL("scaffold/", import.meta.url));
/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL("docstrings/.tmp/", import.meta.url));

interface Example {
  /** The source file, and the place of the example in it. */
  from: string;
  code: string;
}

async function examples(): Promise<Example[]> {
  const folders = ["core", "server", "client", "testing"];
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(ROOT, folder), { recursive: true })).map((file) => `${folder}/${file}`),
    ),
  );
  const sources = files.flat().filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"));
  const found = await Promise.all(
    sources.map(async (file) =>
      examplesIn(await readFile(join(ROOT, file), "utf8")).map((code, i) => ({
        from: `${file} ${i + 1}`,
        code,
      })),
    ),
  );
  return found.flat();
}

/** What stands after each `@example`, up to the next tag or the end of the comment. */
function examplesIn(source: string): string[] {
  return (source.match(/\/\*\*[\s\S]*?\*\//g) ?? []).flatMap((comment) => {
    const text = comment.replace(/^\/\*\*|\s*\*\/$/g, "").replace(/^ *\* ?/gm, "");
    return text
      .split(/^@/m)
      .filter((tag) => tag.startsWith("example\n"))
      .map((tag) => tag.slice("example\n".length).trimEnd());
  });
}

const fileOf = ({ from }: Example) => `${from.replaceAll(/[/. ]/g, "_")}.tsx`;

async function compile(): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  return promisify(execFile)(process.execPath, [tsc, "-p", WORK]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe("the examples of docstrings", async () => {
  const all = await examples();

  beforeAll(async () => {
    await rm(WORK, { recursive: true, force: true });
    await mkdir(WORK, { recursive: true });
    const tsconfig = {
      extends: "../../../../tsconfig.json",
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable"],
        // Its own types, if it is installed.
        paths: { ai: ["../../../ai/node_modules/ai-7", "./ai.ts"] },
      },
      include: ["*"],
      exclude: [],
    };
    await writeFile(join(WORK, "tsconfig.json"), JSON.stringify(tsconfig));
    const given = {
      "globals.tsx": "docstrings.tsx.txt",
      "ai.ts": "guides/language-models/ai.ts.txt",
    };
    for (const [file, source] of Object.entries(given)) {
      await writeFile(join(WORK, file), await readFile(join(SCAFFOLD, source), "utf8"));
    }
    for (const example of all) {
      await writeFile(join(WORK, fileOf(example)), `${example.code}\nexport {};\n`);
    }
  });

  it("have 15 lines at most, none of them wider than a page", () => {
    expect(all.length).toBeGreaterThan(80);
    const long = all.filter(
      ({ code }) =>
        code.split("\n").length > 15 || code.split("\n").some((line) => line.length > 96),
    );
    expect(long).toEqual([]);
  });

  it("compile", async () => {
    expect(await compile()).toBe("");
  });

  it("do not compile once the name of a limit is wrong", async () => {
    const example = all.find(({ code }) => code.includes('useRateLimit("sendMessage")'));
    const file = join(WORK, fileOf(example!));
    await writeFile(
      file,
      `${example!.code.replace('"sendMessage"', '"sendMesage"')}\nexport {};\n`,
    );
    expect(await compile()).toContain(`'"sendMesage"' is not assignable`);
    await writeFile(file, `${example!.code}\nexport {};\n`);
  });
});
