/** Builds the pages that run parts of the demo. `site/build.ts` puts the documentation beside them. */
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { highlightedCode } from "../../example-app/highlight-code.js";
import { keepDevtools } from "../../example-app/keep-devtools.js";
import { readAddress } from "../address.js";
import { blocksOfPages } from "./examples/blocks.js";
import { frame } from "./frame.js";
import { missingPage } from "./missing-page.js";
import { standIns } from "./stand-ins.js";

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const address = readAddress();

export default defineConfig({
  root: pathOf("."),
  // An address without a page gets no other page instead.
  appType: "mpa",
  base: address.base,
  plugins: [
    standIns,
    highlightedCode(),
    blocksOfPages(),
    keepDevtools,
    react(),
    frame(address),
    missingPage(pathOf("../dist")),
  ],
  define: {
    // `JSON.stringify(undefined)` would give no text.
    "import.meta.env.VITE_SITE_REPOSITORY": JSON.stringify(address.repository ?? null),
  },
  worker: { format: "es" },
  build: {
    outDir: pathOf("../dist"),
    // The documentation was built before, and is there already.
    emptyOutDir: false,
    assetsDir: "app",
    rolldownOptions: {
      input: ["", "playground/", "count/", "bucket/", "examples/"].map((page) =>
        pathOf(`${page}index.html`),
      ),
    },
  },
});
