/** Tables of a killed run: the next run finds them, and the statement that it prints removes them. */
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../cli/doctor/finding.js";
import { findTarget, type Target } from "../../../cli/verify/find-target.js";
import { findLeftTables } from "../../../cli/verify/left-rows.js";
import { openPlace } from "../../../cli/verify/open-place.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import { ROOT } from "../../support/run-doctor.js";

describe("the tables of a run that was killed", () => {
  it.each([
    ["PostgreSQL", createPostgres, "?schema=other"],
    ["MySQL or MariaDB", createMysql, ""],
    ["SQLite", createSqlite, ""],
  ])("are found in %s, and the statement drops them", async (_, create, params) => {
    if (create === createMysql && mysqlUrl === undefined) return;
    await using database: TestDatabase = await create();
    if (params) await database.prisma.$executeRawUnsafe("CREATE SCHEMA other");
    const target = (await findTarget(ROOT, database.url + params)) as Target & { kind: "sql" };
    const place = { installed: [ROOT], target, name: "RateLimitVerify0123456789", prepare: true };
    const { rows, database: opened, close } = await openPlace(place);
    const find = (): Promise<Finding[]> => findLeftTables(target.url.dialect, opened!.connection);
    try {
      expect(await find()).toEqual([]);
      await rows.make();
      await opened!.connection.execute("CREATE TABLE RateLimitVerifyOfAnn (id INT)", []);
      const [found] = await find();
      expect(found!.message).toContain("there are tables of verify (2)");
      const [, drops] = found!.advice!.split("if no other run goes on: ");
      for (const drop of drops!.split(/;\s*/).filter(Boolean)) {
        await opened!.connection.execute(drop, []);
      }
      expect(await find()).toEqual([]);
    } finally {
      await close();
    }
  });
});
