import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bun, NO_BUN } from "../../support/bun.js";

const pathOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

it("stores accept the clients of Bun by their types, and know their transactions", async ({
  skip,
}) => {
  if (bun === undefined) return skip(NO_BUN);
  const tsc = [
    pathOf("node_modules/typescript/bin/tsc"),
    "-p",
    pathOf("test/runtimes/bun/types.tsconfig.json"),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, tsc).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});
