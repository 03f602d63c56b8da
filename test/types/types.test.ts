import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const PROJECT = fileURLToPath(new URL(".", import.meta.url));

it("compiles what must compile, and refuses what must not, against the built package", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [TSC, "-p", PROJECT]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});
