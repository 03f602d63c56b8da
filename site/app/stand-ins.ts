/** The files of the demo's page that the site replaces by its own. All other files are used unchanged. */
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PAGE = resolve(HERE, "../../example-app/shared/page");

/** How calls reach the server, and where the documentation and the sources are. */
const NAMES = ["server-link", "code"];
const FILES = new Map(
  NAMES.map((name) => [resolve(PAGE, `${name}.js`), resolve(HERE, `${name}.ts`)]),
);

export const standIns: Plugin = {
  name: "stand-ins",
  enforce: "pre",
  resolveId(source, importer) {
    if (!source.startsWith(".") || importer === undefined) return null;
    return FILES.get(resolve(dirname(importer), source)) ?? null;
  },
};
