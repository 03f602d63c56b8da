/**
 * Shows the files and functions that one warm `limiter.limit` on `pg` goes through, in the order of the
 * calls. V8 counts the calls in `dist`, so the walk needs a build. `--json` prints the steps alone.
 */
import { randomUUID } from "node:crypto";
import { type Debugger, Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { readMigrations } from "../example-app/shared/server/migrate.js";
import type * as Server from "../server/index.js";
import { startPostgres } from "../test/support/postgres-server.js";

/** A function that the call went through. */
export interface Step {
  /** The file of the source, such as `server/limiter/verbs/limit.ts`. */
  file: string;
  /** The name of the function; `""` if it has no name. */
  name: string;
  /** The line of the function in the file in `dist`, from 1. */
  line: number;
}

/**
 * The number of calls that are watched. A step that not all calls have is left out, such as an occasional
 * look at a clock, a connection or a table.
 */
const CALLS = 5;
const DIST = new URL("../dist/", import.meta.url).href;

/**
 * The functions of `dist` that each watched call goes through, in the order of a call.
 *
 * @param call has been made often enough to be warm.
 */
async function walk(call: () => Promise<unknown>): Promise<Step[]> {
  const session = new Session();
  session.connect();
  const scripts = new Map<string, Debugger.ScriptParsedEventDataType>();
  session.on("Debugger.scriptParsed", ({ params }) => scripts.set(params.scriptId, params));
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  /** The calls of functions since the last time, by `scriptId:startOffset`. */
  const called = async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const found = new Map<string, { name: string; scriptId: string; start: number }>();
    for (const { url, scriptId, functions } of result.filter((each) => each.url.startsWith(DIST))) {
      for (const { functionName: name, ranges } of functions) {
        const [{ startOffset: start, count }] = ranges as [(typeof ranges)[number]];
        if (count > 0) found.set(`${url}:${start}`, { name, scriptId, start });
      }
    }
    return found;
  };
  await called();
  await call();
  const inAll = await called();
  for (let i = 1; i < CALLS; i++) {
    await call();
    const now = await called();
    for (const id of inAll.keys()) if (!now.has(id)) inAll.delete(id);
  }
  await session.post("Profiler.stopPreciseCoverage");

  // A breakpoint with a false condition does not stop the code. The condition notes the order of the
  // calls.
  const order: string[] = [];
  Object.assign(globalThis, { noteStep: (id: string) => void order.push(id) });
  await session.post("Debugger.enable");
  const steps = new Map<string, Step>();
  for (const [id, { name, scriptId, start: from }] of inAll) {
    const { url } = scripts.get(scriptId)!;
    const before = (await readFile(fileURLToPath(url), "utf8")).slice(0, from).split("\n");
    const start = { scriptId, lineNumber: before.length - 1, columnNumber: before.at(-1)!.length };
    const { locations } = await session.post("Debugger.getPossibleBreakpoints", {
      start,
      restrictToFunction: true,
    });
    const condition = `globalThis.noteStep(${JSON.stringify(id)})`;
    await session.post("Debugger.setBreakpoint", { location: locations[0]!, condition });
    const file = url.slice(DIST.length).replace(/\.js$/, ".ts");
    steps.set(id, { file, name, line: before.length });
  }
  await call();
  session.disconnect();
  return [...new Set([...order, ...steps.keys()])].map((id) => steps.get(id)!);
}

/** The walk of a call with a key, after some hundred calls. */
async function walkOnPg(connectionString: string): Promise<Step[]> {
  const built = (await import(`${DIST}server/index.js`)) as typeof Server;
  const pool = new pg.Pool({ connectionString, max: 1 });
  try {
    const migrations = new URL("../prisma/postgresql/migrations", import.meta.url);
    for (const { script } of await readMigrations(fileURLToPath(migrations))) {
      await pool.query(script);
    }
    const limits = { walked: { kind: "token bucket", rate: 1e6, period: 1000 } } as const;
    const limiter = built.createRateLimiter({ store: built.pgStore(pool), limits });
    const call = () => limiter.limit("walked", { key: "caller" });
    for (let i = 0; i < 500; i++) await call();
    return await walk(call);
  } finally {
    await pool.end();
  }
}

const url = process.env["TEST_POSTGRES_URL"];
const server = url === undefined ? await startPostgres() : undefined;
const database = `walk_${randomUUID().replaceAll("-", "")}`;
const admin = new pg.Client(url ?? server!.url);
await admin.connect();
try {
  await admin.query(`CREATE DATABASE ${database}`);
  const own = new URL(url ?? server!.url);
  own.pathname = database;
  const steps = await walkOnPg(own.href);
  const files = [...new Set(steps.map(({ file }) => file))];
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify(steps));
  } else {
    for (const { file, name, line } of steps) console.log(`${file}  ${name || `(line ${line})`}`);
    console.log(`\n${files.length} files, ${steps.length} functions`);
  }
} finally {
  await admin.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  await admin.end();
  await server?.stop();
}
