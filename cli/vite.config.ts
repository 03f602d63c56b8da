/**
 * Bundles the command with all that it imports, so that applications which install the package
 * install no package for it. The licences of what is bundled are written beside it. Each command is a
 * file that is loaded when it is called, and small, because most of it is a parser.
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
