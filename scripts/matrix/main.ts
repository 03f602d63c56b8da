/**
 * Runs the tests on each maintained Node.js, and the packed package beside the oldest and newest peers.
 * Then writes what has passed into `docs/compatibility.md`. It takes an hour on two cores.
 *
 * `npm run matrix -- --node 22,24 --suites "npm test"`: only these; the record keeps the others.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { CASES } from "../../test/peers/cases.js";
import { byVersion, type Counts, readRecord, ROOT, writeRecord } from "./record.js";

/** Vitest's arguments, by what the table calls a suite. */
const SUITES: Record<string, string[]> = {
  "npm test": ["--project", "main", "--project", "pages"],
  "all drivers": ["--project", "drivers"],
  "the packed package": ["--project", "scaffolds", "test/peers/"],
};
/** The lowest that `engines` accepts here, and the majors that are maintained. */
const VERSIONS = "20.19.0,22,24,26";
const PEERS = "peers";
/** Not by default: it leaves the newest candidate of Prisma 8 installed below `test/prisma-8`. */
const PRISMA_8 = "prisma 8";

interface Test {
  title: string;
  status: string;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { assertionResults: Test[] }[];
}

const { values } = parseArgs({
  options: {
    node: { type: "string", default: VERSIONS },
    suites: { type: "string", default: [...Object.keys(SUITES), PEERS].join(",") },
  },
});
const suites = values.suites.split(",");
const folder = await mkdtemp(join(tmpdir(), "matrix-"));
const record = await readRecord();
/** better-sqlite3 is compiled for the Node.js that runs its tests, and at the end for this one again. */
const isCompiled = suites.includes("all drivers");
let hasFailed = false;
try {
  for (const wanted of values.node.split(",").filter(Boolean)) await runOn(wanted);
  if (suites.includes(PEERS)) await runPeers();
  if (suites.includes(PRISMA_8)) await runPrisma8();
} finally {
  if (values.node !== "" && isCompiled) await compileFor(process.execPath);
  await rm(folder, { recursive: true });
}
// The page says nothing of Prisma's candidates.
if (values.node !== "" || suites.includes(PEERS)) {
  record.on = new Date().toLocaleDateString("en", { month: "long", year: "numeric" });
  await writeRecord(record);
}
process.exitCode = hasFailed ? 1 : 0;

async function runOn(wanted: string): Promise<void> {
  const binary = await install(wanted);
  if (isCompiled) await compileFor(binary);
  const version = (await output(binary, ["-p", "process.versions.node"])).trim();
  const chosen = Object.entries(SUITES).filter(([suite]) => suites.includes(suite));
  const runs: Record<string, Counts> = {};
  for (const [suite, args] of chosen) {
    const { counts } = await test(binary, args);
    runs[suite] = counts;
    console.log(`Node.js ${version}, ${suite}: ${JSON.stringify(counts)}`);
  }
  // A newer version of a major takes the place of the older one.
  const major = `${version.split(".")[0]}.`;
  const others = Object.entries(record.node).filter(([each]) => !each.startsWith(major));
  const earlier = record.node[version];
  record.node = Object.fromEntries(
    [...others, [version, { ...earlier, ...runs }] as const].sort(([a], [b]) => byVersion(a, b)),
  );
}

/** Only cases that pass count, so the page lists no version that fails. */
async function runPeers(): Promise<void> {
  const { counts, tests } = await test(process.execPath, SUITES["the packed package"]!, "1");
  console.log(`peers: ${JSON.stringify(counts)}`);
  // In their order, because Vitest shortens the titles.
  const results = tests.filter(({ title }) => title.endsWith(", nothing moves"));
  const packages = CASES.filter((_, index) => results[index]?.status === "passed").flatMap(
    ({ packages: all, moves = [], overrides }) =>
      overrides ? [] : all.filter((each) => !moves.some((name) => each.startsWith(`${name}@`))),
  );
  for (const name of Object.keys(record.peers)) {
    const versions = packages
      .filter((each) => each.startsWith(`${name}@`))
      .map((each) => each.slice(name.length + 1));
    const own = JSON.parse(
      await readFile(join(ROOT, "node_modules", name, "package.json"), "utf8"),
    ) as { version: string };
    // The tests of the repository run beside that one.
    record.peers[name] = [...new Set([...versions, own.version])].sort(byVersion);
  }
}

/** The newest candidate, or the newest version once there is one: the tags of npm point elsewhere. */
async function runPrisma8(): Promise<void> {
  const name = "@prisma/orm-postgres";
  const versions = JSON.parse(
    await output("npm", ["view", name, "versions", "--json"]),
  ) as string[];
  const candidates = versions.filter((version) => /^8\.\d+\.\d+-rc\.\d+$/.test(version));
  const releases = versions.filter((version) => /^8\.\d+\.\d+$/.test(version));
  const newest = [...candidates.sort(byVersion), ...releases.sort(byVersion)].at(-1)!;
  const project = join(ROOT, "test/prisma-8");
  await output("npm", ["install", "--no-save", "--prefix", project, `${name}@${newest}`]);
  const { counts } = await test(process.execPath, [
    ...SUITES["all drivers"]!,
    "test/drivers/prisma-8",
  ]);
  console.log(`${name} ${newest}: ${JSON.stringify(counts)}`);
}

/** The binary that npm has for this machine. */
async function install(version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const root = join(folder, version);
  await output("npm", ["install", "--silent", "--no-save", "--prefix", root, `${name}@${version}`]);
  return join(root, "node_modules", name, "bin/node");
}

/** Compiles by the headers that come beside the binary. */
async function compileFor(binary: string): Promise<void> {
  const headers = join(dirname(binary), "..");
  const hasHeaders = existsSync(join(headers, "include/node/node.h"));
  await output("npm", ["rebuild", "--prefix", join(ROOT, "test/better-sqlite3")], {
    ...withNode(binary),
    npm_config_build_from_source: "true",
    ...(hasHeaders && { npm_config_nodedir: headers }),
  });
}

/** Also for what tests start by name, such as npm. */
function withNode(binary: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env["PATH"]}` };
}

async function test(binary: string, args: readonly string[], nightly = "") {
  const file = join(folder, "report.json");
  await rm(file, { force: true });
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const report = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const child = spawn(binary, [vitest, "run", ...args, ...report], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...withNode(binary), CI: "true", NIGHTLY: nightly },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  hasFailed ||= code !== 0;
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
    await readFile(file, "utf8"),
  ) as Report;
  return {
    counts: { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests },
    tests: testResults.flatMap(({ assertionResults }) => assertionResults),
  };
}

async function output(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return text;
}
