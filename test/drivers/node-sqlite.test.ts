import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { hasDrizzle1, NO_DRIZZLE_1 } from "../support/drizzle-1.js";
import { node24, NO_NODE_24 } from "../support/node-24.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Result {
  fullName: string;
  status: string;
  failureMessages: string[];
}

/** Runs the files of test/node-24 whose names have this part. */
async function runOn24(node: string, part: string) {
  const args = ["--config", "test/node-24/vitest.config.ts", part, "--reporter=json"];
  const vitest = ["node_modules/vitest/vitest.mjs", "run", ...args];
  const { stdout } = await promisify(execFile)(node, vitest, { cwd: ROOT }).catch(
    (failure: { stdout: string }) => failure,
  );
  const { numPassedTests, testResults } = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    numPassedTests: number;
    testResults: { message?: string; assertionResults: Result[] }[];
  };
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failuresWhere = (isFailed: (status: string) => boolean) => [
    ...testResults.flatMap(({ message }) => (message ? [message] : [])),
    ...results
      .filter(({ status }) => isFailed(status))
      .map(({ fullName, failureMessages }) => [fullName, ...failureMessages]),
  ];
  return { numPassedTests, failuresWhere };
}

describe("sqliteStore on node:sqlite", () => {
  it("passes the contract of stores on Node.js 24", { timeout: 180_000 }, async ({ skip }) => {
    if (node24 === undefined) return skip(NO_NODE_24);
    const { numPassedTests, failuresWhere } = await runOn24(node24, "node-sqlite");
    expect(failuresWhere((status) => status !== "passed")).toEqual([]);
    // The contract in two isolations, and the tests of synchronous clients.
    expect(numPassedTests).toBeGreaterThan(40);
  });
});

describe("drizzleStore on node:sqlite", () => {
  it("passes the contract of stores with Drizzle 1.0", { timeout: 180_000 }, async ({ skip }) => {
    if (node24 === undefined) return skip(NO_NODE_24);
    if (!hasDrizzle1) return skip(NO_DRIZZLE_1);
    const { numPassedTests, failuresWhere } = await runOn24(node24, "drizzle-synchronous");
    // The contract skips its transactions, which this store does not offer.
    expect(failuresWhere((status) => status === "failed")).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(40);
  });
});
