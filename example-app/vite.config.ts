import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { highlightedCode } from "./highlight-code.js";
import { keepDevtools } from "./keep-devtools.js";
import { schemeSwitch } from "./scheme-switch.js";
import { visitorCookie } from "./visitor-cookie.js";

/** Stores a compressed copy of each file, which the server sends instead. */
const gzip: Plugin = {
  name: "gzip",
  async writeBundle({ dir }, files) {
    for (const name of Object.keys(files)) {
      const path = join(dir!, name);
      await writeFile(`${path}.gz`, gzipSync(await readFile(path)));
    }
  },
};

const API = "http://localhost:3000";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [highlightedCode(), react(), schemeSwitch, keepDevtools, gzip, visitorCookie(API)],
  // All styles come with the page: a few kB, and a part that is loaded later needs only its script.
  build: { cssCodeSplit: false },
  server: { proxy: { "/trpc": API } },
});
