/**
 * Bundles the command with all its imports, so that applications install no further packages for the
 * command. The licences of the bundled packages are written beside the bundle. Each subcommand is a file
 * of its own, which is loaded when the subcommand is called. The files are minified, because most of the
 * code is a parser.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const DIST = new Map(
  ["server/index", "server/redis/index", "testing/describe-store"].map((name) => [
    fileURLToPath(new URL(`../${name}.ts`, import.meta.url)),
    `../${name}.js`,
  ]),
);

/** `verify` tests the code that applications load, and not a copy of it. */
const fromDist: Plugin = {
  name: "from-dist",
  enforce: "pre",
  async resolveId(id, importer) {
    if (!importer?.includes("/cli/verify/")) return undefined;
    const resolved = await this.resolve(id, importer, { skipSelf: true });
    const place = DIST.get(resolved?.id ?? "");
    return place === undefined ? undefined : { id: place, external: true };
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [fromDist],
  build: {
    ssr: "main.ts",
    outDir: "../dist/cli",
    emptyOutDir: true,
    target: "node20.19",
    minify: true,
    license: { fileName: "THIRD-PARTY-LICENSES.md" },
    rolldownOptions: { output: { chunkFileNames: "[name].js" } },
  },
  ssr: { noExternal: true },
});
