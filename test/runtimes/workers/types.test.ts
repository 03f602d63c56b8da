import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasWorkerd, NO_WORKERD } from "./start-worker.js";

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

it("the stores accept Cloudflare's own types of a binding and of a storage", async ({ skip }) => {
  if (!hasWorkerd) skip(NO_WORKERD);
  const tsc = [
    pathOf("../../../node_modules/typescript/bin/tsc"),
    "-p",
    pathOf("types.tsconfig.json"),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, tsc).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});
