/** The tests of `drizzleStore` run on Drizzle 1.0 in a project of `vitest.config.ts`. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasDrizzle1, NO_DRIZZLE_1 } from "../support/drizzle-1.js";

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

if (!hasDrizzle1) {
  it("drizzleStore passes its tests with Drizzle 1.0", ({ skip }) => skip(NO_DRIZZLE_1));
} else {
  it("drizzleStore accepts databases of Drizzle 1.0, and knows their types of a transaction", async () => {
    const tsc = [pathOf("node_modules/typescript/bin/tsc"), "-p", pathOf("test/drizzle-1")];
    const { stdout } = await promisify(execFile)(process.execPath, tsc).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  });
}
