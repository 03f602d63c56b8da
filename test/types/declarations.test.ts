/**
 * The declarations of an application, which `declaration` and `composite` write: every type that an
 * export infers must have a name in an entry point, however the package is installed.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const SHAPES = fileURLToPath(new URL("declarations/", import.meta.url));

/** Where the package is, and where it is found. */
const layouts = [
  { manager: "npm", module: "nodenext", type: "module", real: "trpc-rate-limit" },
  {
    manager: "pnpm",
    module: "nodenext",
    type: "module",
    real: ".pnpm/trpc-rate-limit@0.0.0/node_modules/trpc-rate-limit",
  },
  { manager: "npm", module: "node20", type: "commonjs", real: "trpc-rate-limit" },
];

it.each(layouts)(
  "names all types of an application ($type), as $manager installs it",
  async ({ manager, module, type, real }) => {
    // Within the repository, so that the other packages are found.
    const project = fileURLToPath(new URL(`.tmp/${manager}-${type}/`, import.meta.url));
    await rm(project, { recursive: true, force: true });
    const installed = join(project, "node_modules/trpc-rate-limit");
    const target = join(project, "node_modules", real);
    await mkdir(target, { recursive: true });
    await cp(join(ROOT, "dist"), join(target, "dist"), { recursive: true });
    await cp(join(ROOT, "package.json"), join(target, "package.json"));
    if (target !== installed) await symlink(target, installed, "dir");
    await cp(SHAPES, project, { recursive: true });
    await writeFile(join(project, "package.json"), JSON.stringify({ type }));
    const compilerOptions = {
      module,
      verbatimModuleSyntax: type === "module",
      noEmit: false,
      composite: true,
      emitDeclarationOnly: true,
      rootDir: ".",
      outDir: "out",
    };
    const extended = { extends: "../../../../tsconfig.json", compilerOptions };
    const config = { ...extended, include: ["*.ts", "*.tsx"], exclude: [] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
    const compiling = promisify(execFile)(process.execPath, [TSC, "-p", project]);
    const { stdout } = await compiling.catch((error: { stdout: string }) => error);
    expect(stdout).toBe("");
    const declared = await readFile(join(project, "out/server.d.ts"), "utf8");
    expect(declared).toContain("export declare const limited: ");
    expect(declared).not.toContain("trpc-rate-limit/dist");
    await rm(project, { recursive: true });
  },
);
