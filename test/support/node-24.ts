/** Node.js 24, in which tests run what Node.js 20 does not support. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("../node-24/node_modules/node/bin/node", import.meta.url));

/** The path of the binary, or `undefined` if it was not installed. */
export const node24: string | undefined = existsSync(path) ? path : undefined;
/** The message of a test that is skipped without Node.js 24. */
export const NO_NODE_24 = "needs Node.js 24: npm run install:test-projects";
