/**
 * Processes that hold tokens and settle each other's holds, and are killed at any moment. Afterwards
 * nothing was settled twice, nothing is lost except what `then` says, and the rows add up whenever they
 * are read. `HISTORY_MINUTES=20` makes each history that long.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { createRateLimiter, HOUR } from "../../server/index.js";
import { createRandom } from "../simulation/random.js";
import { bundleProgram } from "../support/bundle-program.js";
import { createMysql, createPostgres, mysqlUrl, type TestDatabase } from "../support/database.js";
import { openStore, type StoreKind } from "../support/open-store.js";
import { createRedisRows, redisUrl } from "../support/redis-rows.js";
import { drain } from "./hold-caller.js";
import { holdLimits } from "./hold-limits.js";
import type { HoldCall } from "./hold-model.js";
import { problemOfRows, type StoredRow } from "./hold-rows.js";
import { bucketOf, checkHolds } from "./hold-verdict.js";
import type { HoldWorkerOptions } from "./hold-worker.js";
import { startLossyProxy } from "./lossy-proxy.js";
import { startWorkerProcesses } from "./worker-processes.js";

const minutes = Number(process.env["HISTORY_MINUTES"] ?? (isNightly ? 5 : 0));
/** How long each history is at least, ms. */
const DURATION = minutes * 60_000;
const timeout = DURATION + 240_000;
/** The least number of kills, and how many holds must end between two kills. */
const KILLS = 5;
const ENDS = 20;
/** How far a process may be from the clock of the database, ms, unless it reports more. */
const CLOCK_ERROR = 50;
const PROCESSES = 3;
const CAPACITY = 80;
const { configs, checked } = holdLimits(CAPACITY);
/** How long holds last, ms. */
const LASTS = [50, 300, 2000];

interface Scenario {
  name: string;
  kind: StoreKind;
  create(): Promise<Pick<TestDatabase, "url"> & AsyncDisposable & { prisma?: unknown }>;
  /** The statement that reads all rows at one instant. */
  select?: string;
}

const COLUMNS = ["name", "key", "shard", "used", "ts"];
const scenarios: Scenario[] = [
  {
    name: "PostgreSQL",
    kind: "pg",
    create: () => createPostgres(),
    select: `SELECT ${COLUMNS.map((column) => `"${column}"`).join(", ")} FROM "RateLimit"`,
  },
];
// `test/server/store/sql/mysql/mysql.test.ts` and `test/server/redis/redis-store.test.ts` report a
// missing MySQL or Redis.
if (mysqlUrl !== undefined) {
  scenarios.push({
    name: "MariaDB",
    kind: "mysql2",
    create: () => createMysql(),
    select: `SELECT ${COLUMNS.map((column) => `\`${column}\``).join(", ")} FROM RateLimit`,
  });
}
if (redisUrl !== undefined) {
  scenarios.push({ name: "Redis", kind: "redis", create: async () => createRedisRows() });
}

let file: string;
beforeAll(async () => {
  file = await bundleProgram(new URL("hold-worker.ts", import.meta.url));
});

it.concurrent.each(scenarios)(
  "three processes on $name end holds once, whichever of them is killed, and lose nothing",
  { timeout },
  async ({ name, kind, create, select }) => {
    await using database = await create();
    await using proxy = await startLossyProxy(database.url);
    const calls: HoldCall[] = [];
    let clockError = CLOCK_ERROR;
    await using workers = await startWorkerProcesses({
      file,
      processes: PROCESSES,
      argumentOf: (index, seed): HoldWorkerOptions => ({
        // One process loses answers of the database, and the clock of one process is wrong.
        url: index === 0 && kind !== "redis" ? proxy.url : database.url,
        seed,
        callers: 3,
        capacity: CAPACITY,
        ids: 15,
        every: 700,
        lasts: LASTS,
        ahead: index === 1 ? HOUR : 0,
        transacts: kind !== "redis",
      }),
      reader: () => readerInto(calls, (error) => (clockError = Math.max(clockError, error))),
    });
    const until = Date.now() + DURATION;
    const random = createRandom(1);
    const looks: string[] = [];
    let isOn = true;
    const killAll = async () => {
      const isKilled = () => calls.some(({ end }) => end === Infinity);
      for (let kills = 0; kills < KILLS || !isKilled() || Date.now() < until; kills++) {
        await moreThan(
          ENDS,
          () => calls.filter(({ answer }) => answer?.count !== undefined).length,
        );
        await sleep(random.below(50));
        await workers.replace(random.below(PROCESSES));
      }
      isOn = false;
    };
    await Promise.all([
      killAll(),
      repeat(
        900,
        () => isOn,
        () => proxy.cut(),
      ),
      repeat(
        100,
        () => isOn,
        async () => {
          const rows = select && (await rowsOf(database, select));
          const problem = rows && problemOfRows(rows);
          if (problem) looks.push(problem);
        },
      ),
    ]);
    await workers.stop();
    await sleep(Math.max(...LASTS) + clockError);

    const { store, close } = openStore(kind, database.url);
    const limiter = createRateLimiter({ store, limits: configs, timeout: 30_000 });
    const left = new Map<string, number>();
    for (const [bucket, of] of new Map(calls.map((call) => [bucketOf(call), call]))) {
      left.set(bucket, await drain(limiter, { ...of, count: CAPACITY }));
      // A denial has given back all lapsed tokens, and the key has no holds left.
      if (!checked[of.name as keyof typeof configs].refills) {
        expect(await limiter.holds(of.name as keyof typeof configs, { key: of.key })).toEqual([]);
      }
    }
    await close();
    const verdict = checkHolds(calls, { limits: checked, clockError, left });
    if (minutes > 0) console.log({ name, minutes, calls: calls.length, ...verdict });
    expect(looks).toEqual([]);
    expect(verdict.problems).toEqual([]);
    if (select) expect(problemOfRows(await rowsOf(database, select))).toBeUndefined();
    expect(verdict.ends).toBeGreaterThanOrEqual(KILLS * ENDS);
    expect(verdict.lapses).toBeGreaterThan(0);
    expect(verdict.exact).toBeGreaterThan(0);
  },
);

/**
 * Reads the lines of one process. A call comes a second time when it has ended, or as null if it has no
 * effect. A number is the largest error of the process's clock so far, ms.
 */
function readerInto(
  calls: HoldCall[],
  onClockError: (error: number) => void,
): (line: string) => void {
  const known = new Map<number, HoldCall>();
  return (line) => {
    const written = JSON.parse(line) as number | [number, HoldCall | null];
    if (typeof written === "number") return onClockError(written);
    const [id, given] = written;
    const before = known.get(id);
    if (given === null) calls.splice(calls.indexOf(before!), 1);
    else if (before === undefined) {
      const call = { ...given, end: Infinity };
      calls.push(call);
      known.set(id, call);
    } else {
      Object.assign(before, given);
      known.delete(id);
    }
  };
}

async function rowsOf(database: { prisma?: unknown }, select: string): Promise<StoredRow[]> {
  const { prisma } = database as Pick<TestDatabase, "prisma">;
  return prisma.$queryRawUnsafe<StoredRow[]>(select);
}

async function repeat(every: number, isOn: () => boolean, run: () => Promise<void>): Promise<void> {
  const random = createRandom(every);
  while (isOn()) {
    await sleep(every * (0.5 + random.next()));
    await run();
  }
}

/** Resolves when a count is `more` higher than now. */
async function moreThan(more: number, count: () => number): Promise<void> {
  const before = count();
  while (count() < before + more) await sleep(20);
}
