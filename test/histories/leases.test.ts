/**
 * Processes with leases that are killed, stopped and have wrong clocks. No tokens may be granted that
 * were not there. `HISTORY_MINUTES=20` makes each history that long.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { createRandom } from "../simulation/random.js";
import { bundleProgram } from "../support/bundle-program.js";
import { createMysql, createPostgres, mysqlUrl, type TestDatabase } from "../support/database.js";
import { LEASED } from "./lease-limits.js";
import type { ClockFault } from "./lease-worker.js";
import { checkLeaseHistory } from "./lease-verdict.js";
import { startLeaseWorkers } from "./lease-workers.js";
import { startLossyProxy } from "./lossy-proxy.js";

const minutes = Number(process.env["HISTORY_MINUTES"] ?? (isNightly ? 5 : 0));
/** How long each history is, ms. */
const DURATION = minutes > 0 ? minutes * 60_000 : 5000;
/** Twenty processes take long to start, and to end, on a machine with other load. */
const timeout = DURATION + 240_000;
/** How far a process may be from the clock of the database, ms, unless it reports more. */
const CLOCK_ERROR = 50;

type Disturbance = "kills" | "pauses" | "lost answers";

interface Scenario {
  title: string;
  processes: number;
  clocks?: (ClockFault | undefined)[];
  disturbances?: Disturbance[];
}

const scenarios: Scenario[] = [
  { title: "three processes", processes: 3 },
  {
    title: "three processes that are killed and stopped, and lose answers",
    processes: 3,
    disturbances: ["kills", "pauses", "lost answers"],
  },
  {
    title: "four processes whose clocks are wrong, set, or stand still",
    processes: 4,
    clocks: ["ahead", "behind", "set", "sleeping"],
    disturbances: ["pauses"],
  },
  {
    title: "twenty processes, one of which has a jumping clock, and some are killed",
    processes: 20,
    clocks: ["jumping"],
    disturbances: ["kills", "pauses"],
  },
];

const databases: { name: string; create: () => Promise<TestDatabase> }[] = [
  { name: "PostgreSQL", create: () => createPostgres() },
];
// Without MySQL, `test/server/store/sql/mysql/mysql.test.ts` reports a skipped test.
if (mysqlUrl !== undefined) databases.push({ name: "MariaDB", create: () => createMysql() });

let file: string;
beforeAll(async () => {
  file = await bundleProgram(new URL("lease-worker.ts", import.meta.url));
});

describe.each(scenarios)("$title", ({ title, processes, clocks, disturbances = [] }) => {
  it.concurrent.each(databases)(
    "grant no more than there is on $name",
    { timeout },
    async ({ name, create }) => {
      await using database = await create();
      await using proxy = await startLossyProxy(database.url);
      const url = disturbances.includes("lost answers") ? proxy.url : database.url;
      await using workers = await startLeaseWorkers({ file, url, processes, clocks });
      const until = Date.now() + DURATION;
      await Promise.all(
        disturbances.map((each) =>
          each === "kills"
            ? repeat(until, 1700, (random) => workers.replace(random.below(processes)))
            : each === "pauses"
              ? repeat(until, 1100, (random) =>
                  workers.pause(random.below(processes), random.between(300, 2500)),
                )
              : repeat(until, 900, () => proxy.cut()),
        ),
      );
      await sleep(until - Date.now());
      await workers.stop();
      const clockError = Math.max(CLOCK_ERROR, workers.clockError());
      const verdict = checkLeaseHistory(workers.events, LEASED, () => clockError);
      if (minutes > 0) console.log({ title, name, minutes, clockError, ...verdict });
      expect(verdict.excesses).toEqual([]);
      expect(verdict.grants).toBeGreaterThan(DURATION / 20);
      expect(verdict.denials).toBeGreaterThan(0);
    },
  );
});

async function repeat(
  until: number,
  every: number,
  run: (random: ReturnType<typeof createRandom>) => Promise<void>,
): Promise<void> {
  const random = createRandom(every);
  for (;;) {
    await sleep(every * (0.5 + random.next()));
    if (Date.now() >= until) return;
    await run(random);
  }
}
