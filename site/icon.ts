/** The demo's icon, which stands as text in the demo's page. */
import { readFileSync } from "node:fs";

const page = readFileSync(new URL("../example-app/index.html", import.meta.url), "utf8");
const [, href] = /<link\s+rel="icon"\s+href="([^"]+)"/.exec(page) ?? [];
if (href === undefined) throw new Error("example-app/index.html has no icon");

export const ICON: string = href;
