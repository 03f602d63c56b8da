/** No test asks StackBlitz. The projects themselves can be run: see also test/quick-start/starter.test.ts. */
import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../site/pages.js";
import { projectsOf } from "../../site/stackblitz.js";
import { freePort } from "../support/free-port.js";

const projects = projectsOf("1.2.3");

it("is offered by no page before the first release, because npm has no package", () => {
  expect(projectsOf("0.0.0").size).toBe(0);
  expect([...projects.keys()]).toEqual([
    "README.md",
    "docs/guides/vite.md",
    "docs/guides/testing-an-application.md",
    "docs/guides/express.md",
    "docs/guides/orpc.md",
    "docs/guides/elysia.md",
    "docs/guides/nestjs.md",
  ]);
});

interface Manifest {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const RANGE = /^\^\d+\.\d+\.\d+$/;
/** Modules of Node.js, and of the packages that Vite and TypeScript bring along. */
const BUILT_IN = /^node:/;

describe.each([...projects])("the project of %s", (_page, { files, shown }) => {
  const { scripts, dependencies, devDependencies } = JSON.parse(files["package.json"]!) as Manifest;
  const packages = { ...dependencies, ...devDependencies };

  it("has valid ranges, and this version of the package", () => {
    expect(Object.values(packages).filter((range) => !RANGE.test(range))).toEqual([]);
    expect(dependencies["trpc-rate-limit"]).toBe("^1.2.3");
    expect(scripts["dev"]).toMatch(/^(?:vite|vitest|tsx four-requests\.ts)$/);
  });

  it("has the files and the packages that its code imports", () => {
    expect(Object.keys(files)).toContain(shown);
    const missing = Object.entries(files)
      .filter(([path]) => /\.tsx?$/.test(path))
      .flatMap(([path, code]) =>
        [...code.matchAll(/(?:from |import\(|^import )"([^"]+)"/gm)].map(([, name]) => [
          path,
          name!,
        ]),
      )
      .filter(([path, name]) => {
        if (BUILT_IN.test(name!)) return false;
        if (!name!.startsWith(".")) {
          const own = /^(?:@[^/]+\/)?[^/]+/.exec(name!)![0];
          return !(own in packages) && !(`@types/${own}` in packages) && own !== "express";
        }
        const file = posix.join(posix.dirname(path!), name!).replace(/\.js$/, "");
        return ![".ts", ".tsx"].some((end) => file + end in files);
      });
    expect(missing).toEqual([]);
  });

  it("needs no database server", () => {
    const code = Object.entries(files).filter(([path]) => /^(?!.*limiter\.ts$).*\.ts$/.test(path));
    for (const [, each] of code) expect(each).not.toMatch(/from "(?:pg|mysql2|@prisma\/[^"]+)"/);
  });
});

it("denies the fourth request, in the project of Express", { timeout: 60_000 }, async () => {
  const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  for (const [path, code] of Object.entries(projects.get("docs/guides/express.md")!.files)) {
    // Without a package of its own, the folder finds those of the repository.
    if (path === "package.json") continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), code.replace("localhost:3000", `localhost:${port}`));
  }
  const env = { ...process.env, PORT: `${port}` };
  const run = spawn(process.execPath, ["--import", "tsx", join(folder, "four-requests.ts")], {
    env,
  });
  onTestFinished(() => void run.kill());
  let output = "";
  for (const stream of [run.stdout, run.stderr])
    stream.on("data", (data: Buffer) => (output += data.toString()));
  await expect.poll(() => output, { timeout: 50_000 }).toMatch(/(?:^\d{3} .*\n){4}/m);
  expect(output.match(/^\d{3}/gm)).toEqual(["200", "200", "200", "429"]);
});
