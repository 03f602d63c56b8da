import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const PROJECT = fileURLToPath(new URL(".", import.meta.url));
/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL(".tmp/paths/", import.meta.url));

async function compile(project: string, ...args: string[]): Promise<string> {
  const command = [TSC, "-p", project, ...args];
  const compiling = promisify(execFile)(process.execPath, command);
  return (await compiling.catch((error: { stdout: string }) => error)).stdout;
}

it("compiles what must compile, and refuses what must not, against the built package", async () => {
  expect(await compile(PROJECT)).toBe("");
});

it("refuses a key that may be missing in an application that does not set exactOptionalPropertyTypes", async () => {
  expect(await compile(`${PROJECT}loose`)).toBe("");
});

it.each(["nodenext", "node20"])("compiles in a CommonJS application, by %s", async (module) => {
  expect(await compile(`${PROJECT}commonjs`, "--module", module)).toBe("");
});

it("says where it has found no router of limits", async () => {
  await rm(WORK, { recursive: true, force: true });
  await mkdir(WORK, { recursive: true });
  const config = { extends: "../../../../tsconfig.json", include: ["*.ts"], exclude: [] };
  await writeFile(`${WORK}tsconfig.json`, JSON.stringify(config));
  await writeFile(
    `${WORK}paths.ts`,
    `import { initTRPC } from "@trpc/server";
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../../server.js";
const t = initTRPC.create();
const router = t.router({ hello: t.procedure.query(() => "hello") });
createRateLimitReact<typeof router>();
createRateLimitReact<AppRouter, "limits.mine">({ path: "limits.mine" });
`,
  );
  const errors = (await compile(WORK)).split("\n").filter((line) => line.includes(": error TS"));
  expect(errors).toHaveLength(2);
  expect(errors[0]).toContain("paths.ts(6,");
  expect(errors[0]).toContain('no rate limit router at path \\"rateLimit\\"');
  expect(errors[1]).toContain("paths.ts(7,");
  expect(errors[1]).toContain('no rate limit router at path \\"limits.mine\\"');
  await rm(WORK, { recursive: true });
});
