/** The models of the simulation against the databases, on random schedules. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Tally } from "../faults.js";
import {
  createMysql,
  createPostgres,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import { type Backend, mariadbBackend, postgresqlBackend } from "./backends.js";
import { compare, type Ending } from "./compare.js";
import type { RealSession } from "./tandem.js";

/** How many schedules for each database, instead of its own number. FIRST_SCHEDULE sets the first one. */
const SCHEDULES = process.env["SCHEDULES"];
const FIRST = Number(process.env["FIRST_SCHEDULE"] ?? 1);

const subjects = [
  {
    name: "PostgreSQL",
    schedules: 60,
    open: postgresqlBackend,
    create: (): Promise<TestDatabase> => createPostgres(),
    skip: "",
    /** Endings that are not a disagreement, and how often each may occur among a hundred. */
    allowed: { stricter: 10, weaker: 10, "other order": 5 } as Partial<Record<Ending, number>>,
  },
  {
    name: "MariaDB",
    // Few, because the purge of deleted rows takes time.
    schedules: 20,
    open: mariadbBackend,
    create: (): Promise<TestDatabase> => createMysql(),
    skip: mysqlUrl === undefined ? "TEST_MYSQL_URL is not set" : "",
    allowed: { "other victim": 5, "other order": 5 } as Partial<Record<Ending, number>>,
  },
];

describe.each(subjects)("the model of $name", ({ open, create, skip, allowed, schedules }) => {
  const count = Number(SCHEDULES ?? schedules);
  let database: TestDatabase | undefined;
  let backend: Backend;
  let sessions: RealSession[];

  beforeAll(async () => {
    if (skip !== "") return;
    database = await create();
    backend = open(database.url);
    sessions = await Promise.all([0, 1, 2, 3].map(() => backend.connect()));
  });

  afterAll(async () => {
    if (database === undefined) return;
    await backend.close();
    await database[Symbol.asyncDispose]();
  });

  test(
    "answers, waits and fails as the database does",
    async (context) => {
      if (skip !== "") return context.skip(skip);
      const endings = new Tally<Ending>();
      const disagreements: string[] = [];
      let waits = 0;
      let timeouts = 0;
      for (let seed = FIRST; seed < FIRST + count; seed++) {
        const compared = await compare(backend, sessions, seed);
        endings.note(compared.ending);
        waits += compared.waits;
        timeouts += compared.timeouts;
        if (compared.ending !== "disagreed") continue;
        disagreements.push(`schedule ${seed}\n${compared.log.join("\n")}`);
      }
      if (count > 100) console.log(Object.fromEntries(endings.counts), { waits, timeouts });
      expect(waits).toBeGreaterThan(count / 2);
      expect(timeouts).toBeGreaterThan(0);
      for (const [ending, most] of Object.entries(allowed)) {
        const found = endings.counts.get(ending as Ending) ?? 0;
        if (found > Math.ceil((most * count) / 100)) disagreements.push(`${ending} ${found} times`);
      }
      expect(disagreements).toEqual([]);
    },
    60_000 + count * 3000,
  );
});
