/**
 * Runs the property tests again and again, for FUZZ_MINUTES (default 10). fast-check draws other cases
 * each time. A failure ends the run, and prints the seed that repeats the failure.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const minutes = Number(process.env["FUZZ_MINUTES"] ?? 10);
if (!(minutes > 0)) throw new Error(`FUZZ_MINUTES must be above 0, got ${minutes}`);

const entries = readdirSync("test", { recursive: true, encoding: "utf8" });
const tests = entries.filter(
  (file) => /\.test\.tsx?$/.test(file) && !file.includes("node_modules"),
);
const properties = tests
  .map((file) => join("test", file))
  .filter((file) => /from "fast-check"|DIFFERENTIAL_CASES/.test(readFileSync(file, "utf8")));
if (properties.length === 0) throw new Error("there are no property tests");

const end = Date.now() + minutes * 60_000;
let rounds = 0;
do {
  const args = ["vitest", "run", "--project", "main", "--project", "stores", ...properties];
  const env = { ...process.env, FUZZ_MINUTES: String(minutes) };
  const { status } = spawnSync("npx", args, { stdio: "inherit", env });
  if (status !== 0) {
    process.exitCode = 1;
    break;
  }
  rounds++;
} while (Date.now() < end);
console.log(`${rounds} rounds passed`);
