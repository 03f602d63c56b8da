import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { node24, NO_NODE_24 } from "../support/node-24.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("sqliteStore on node:sqlite", () => {
  it("passes the contract of stores on Node.js 24", { timeout: 180_000 }, async ({ skip }) => {
    if (node24 === undefined) return skip(NO_NODE_24);
    const args = ["--config", "test/node-24/vitest.config.ts", "node-sqlite", "--reporter=json"];
    const vitest = ["node_modules/vitest/vitest.mjs", "run", ...args];
    const { stdout } = await promisify(execFile)(node24, vitest, { cwd: ROOT }).catch(
      (failure: { stdout: string }) => failure,
    );
    const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
      numPassedTests: number;
      testResults: {
        assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
      }[];
    };
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = results.filter(({ status }) => status !== "passed");
    expect(failed.map(({ fullName, failureMessages }) => [fullName, ...failureMessages])).toEqual(
      [],
    );
    // The contract in two isolations, and the tests of synchronous clients.
    expect(report.numPassedTests).toBeGreaterThan(40);
  });
});
