/**
 * Bundles a worker as users bundle their servers. `tsx` wraps each function of a module that it loads,
 * which would double the cost of a decision from memory.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Packages that are not bundled: they have files beside their code, or parts for one platform. */
const external = ["@prisma/*", "@libsql/client", "libsql", "mariadb", "mysql2", "pg"];

/** The path of the bundle, which is removed when this process ends. */
export async function bundle(name: string): Promise<string> {
  const here = fileURLToPath(new URL(".", import.meta.url));
  // The bundle is inside this folder, so that the packages outside of the bundle are found.
  const folder = mkdtempSync(join(here, "generated", "bundle-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(here, `${name}.ts`)],
    bundle: true,
    platform: "node",
    target: `node${process.versions.node}`,
    format: "esm",
    external,
    outfile,
    logLevel: "warning",
    // Bundled packages in CommonJS call `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  return outfile;
}
