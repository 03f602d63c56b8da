/** Answers a page that is not there with 404.html in `npm run site:preview`, as GitHub Pages does. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

/** @param dist the built site. */
export function missingPage(dist: string): Plugin {
  return {
    name: "missing-page",
    configurePreviewServer:
      ({ middlewares }) =>
      () => {
        // Vite has already looked for a file of this address, also with `.html` and `index.html`.
        middlewares.use((req, res, next) => {
          const { pathname } = new URL(req.url ?? "/", "http://site");
          if (pathname !== "/404.html" && isPage(join(dist, pathname))) return next();
          res.writeHead(404, { "Content-Type": "text/html; charset=utf-8" });
          res.end(req.method === "HEAD" ? undefined : readFileSync(join(dist, "404.html")));
        });
      },
  };
}

const isPage = (path: string) => path.endsWith(".html") && existsSync(path);
