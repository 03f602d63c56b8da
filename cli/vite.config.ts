/**
 * Bundles the command with all its imports, so that applications install no further packages for the
 * command. The licences of the bundled packages are written beside the bundle. Each subcommand is a file
 * of its own, which is loaded when the subcommand is called. The files are minified, because most of the
 * code is a parser.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
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
