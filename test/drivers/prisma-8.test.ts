/** Runs `test/prisma-8/suite.ts` with Node.js 24, which Prisma 8 needs. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, inject, it } from "vitest";
import { node24 } from "../support/node-24.js";
import { noPrisma8 } from "../support/prisma-8.js";

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const CONFIG = pathOf("test/prisma-8/vitest.config.ts");
const VITEST = pathOf("node_modules/vitest/vitest.mjs");
const TSC = pathOf("node_modules/typescript/bin/tsc");

interface Report {
  numPassedTests: number;
  testResults: {
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

async function run(command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, TEST_POSTGRES_URL: inject("postgresUrl") };
  const options = { env, maxBuffer: 2 ** 26 };
  // A failure is in the output.
  const { stdout } = await promisify(execFile)(command, args, options).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

if (noPrisma8 !== undefined) {
  it("prismaStore passes its tests with Prisma 8", ({ skip }) => skip(noPrisma8));
} else {
  it(
    "prismaStore passes its tests with Prisma 8, in a process with Node.js 24",
    { timeout: 300_000 },
    async () => {
      const args = [VITEST, "run", "--config", CONFIG, "--reporter", "json", "--silent"];
      const report = JSON.parse(await run(node24!, ...args)) as Report;
      const failures = report.testResults.flatMap(({ message, assertionResults }) => [
        ...(message ? [message] : []),
        ...assertionResults
          .filter(({ status }) => status !== "passed")
          .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join("\n")}`),
      ]);
      expect(failures).toEqual([]);
      expect(report.numPassedTests).toBeGreaterThan(30);
    },
  );

  it("prismaStore accepts a client of Prisma 8, and knows its type of a transaction", async () => {
    expect(await run(process.execPath, TSC, "-p", pathOf("test/prisma-8"))).toBe("");
  });
}
