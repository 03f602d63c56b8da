/** Each entry point with only the peers that it needs: its code and its types. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { ENTRY_POINTS } from "../../scripts/entry-points.js";
import { ROOT } from "./pages.js";

const run = promisify(execFile);
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** What comes with a peer for TypeScript. No code is found there. */
const TYPES: Record<string, readonly string[]> = { react: ["@types/react"] };

describe("the entry point", async () => {
  const folder = await mkdtemp(join(tmpdir(), "entry-points-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** An application that has installed the package, and these others. */
  async function applicationWith(packages: readonly string[]): Promise<string> {
    const root = await mkdtemp(join(folder, "application-"));
    const installed = join(root, "node_modules");
    await mkdir(join(installed, "trpc-rate-limit"), { recursive: true });
    for (const part of ["dist", "package.json"]) {
      await cp(join(ROOT, part), join(installed, "trpc-rate-limit", part), { recursive: true });
    }
    for (const name of packages) {
      await mkdir(dirname(join(installed, name)), { recursive: true });
      await symlink(join(ROOT, "node_modules", name), join(installed, name), "dir");
    }
    await writeFile(join(root, "package.json"), JSON.stringify({ type: "module" }));
    return root;
  }

  /** What Node says about an import of the entry point. */
  function importIn(root: string, specifier: string): Promise<string> {
    const code = `console.log(Object.keys(await import("${specifier}")).length > 0)`;
    const args = ["--input-type=module", "--eval", code];
    return run(process.execPath, args, { cwd: root }).then(
      ({ stdout }) => stdout.trim(),
      ({ stderr }: { stderr: string }) => /Cannot find package '[^']+'/.exec(stderr)?.[0] ?? stderr,
    );
  }

  it.each(ENTRY_POINTS)("$specifier loads beside nothing but $peers", async (entryPoint) => {
    const { specifier, peers } = entryPoint;
    const root = await applicationWith([...peers, ...peers.flatMap((name) => TYPES[name] ?? [])]);
    expect(await importIn(root, specifier)).toBe("true");
    await writeFile(join(root, "index.ts"), `export * from "${specifier}";\n`);
    expect(await typeErrorsIn(root)).toEqual([]);
  });
});

it("has stylesheets that bundlers keep, and that TypeScript knows without a bundler's types", async () => {
  const manifest = await readFile(join(ROOT, "package.json"), "utf8");
  const { exports, sideEffects } = JSON.parse(manifest) as {
    exports: Record<string, { types: string; default: string }>;
    sideEffects: string[];
  };
  const sheets = Object.keys(exports).filter((path) => path.endsWith(".css"));
  expect(sheets).toEqual(["./admin.css", "./styles.css"]);
  expect(sideEffects).toEqual(["**/*.css"]);
  for (const sheet of sheets) {
    const { types, default: css } = exports[sheet]!;
    expect(await readFile(join(ROOT, css), "utf8")).toContain("light-dark(");
    expect(await readFile(join(ROOT, types), "utf8")).toBe("export {};\n");
  }
});

/** Those of the file and of the package: what is wrong in a peer's own types is not looked at. */
async function typeErrorsIn(root: string): Promise<string[]> {
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    jsx: "react-jsx",
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
  };
  await writeFile(join(root, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const { stdout } = await run(process.execPath, [TSC, "-p", root], { cwd: root }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout
    .split("\n")
    .filter((line) => /^(?:index\.ts|node_modules\/trpc-rate-limit\/).*: error TS/.test(line));
}
