/** The types of the clients that the store accepts. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasRedisClients, NO_REDIS_CLIENTS } from "./redis-clients.js";

it("redisStore takes what the clients' own types describe", async ({ skip }) => {
  if (!hasRedisClients) skip(NO_REDIS_CLIENTS);
  const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
  const project = fileURLToPath(new URL(".", import.meta.url));
  const compiled = promisify(execFile)(process.execPath, [tsc, "-p", project]);
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});
