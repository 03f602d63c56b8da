import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

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

/**
 * Hands out the cookie of a new visitor with the page, as the server does with the page that is built.
 * Without it, the first calls of a page, which go out together, would be those of several visitors.
 */
const visitorCookie: Plugin = {
  name: "visitor cookie",
  apply: "serve",
  configureServer({ config, middlewares }) {
    const { "/trpc": proxied } = config.server.proxy ?? {};
    const server = typeof proxied === "string" ? proxied : API;
    middlewares.use(({ headers }, res, next) => {
      const { cookie = "", accept = "" } = headers;
      if (!accept.includes("text/html") || cookie.includes("visitor=")) return next();
      void fetch(server)
        .then((answer) => res.setHeader("Set-Cookie", answer.headers.getSetCookie()))
        // The page says itself that the server does not answer.
        .catch(() => {})
        .finally(next);
    });
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react(), gzip, visitorCookie],
  // All styles come with the page: a few kB, and a part that is loaded later needs only its script.
  build: { cssCodeSplit: false },
  server: { proxy: { "/trpc": API } },
});
