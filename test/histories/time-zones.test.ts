/** Processes in different time zones use one limit of a time zone, across both changes of its clock. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { HOUR, WEEK } from "../../server/index.js";
import { bundleProgram } from "../support/bundle-program.js";
import { createSqlite, sharedDatabases } from "../support/database.js";

const CALLER = await bundleProgram(new URL("../support/zone-caller.ts", import.meta.url));
const ZONES = ["America/New_York", "Asia/Tokyo", "Pacific/Apia"];

interface Printed {
  granted: Record<string, number>;
  zone: number;
}

/** The Mondays in New York at midnight, from before the change to summer time to after the change back. */
const MONDAYS: number[] = [];
const [SUMMER, WINTER] = [Date.parse("2030-03-11T04:00Z"), Date.parse("2030-11-04T05:00Z")];
for (let at = SUMMER; at < WINTER - HOUR; at += WEEK) MONDAYS.push(at);
MONDAYS.unshift(SUMMER - WEEK + HOUR);
MONDAYS.push(WINTER, WINTER + WEEK);

const databases = sharedDatabases.filter(({ kind }) => kind === "pg" || kind === "mysql");
databases.push({ name: "SQLite", kind: "sqlite", provider: "sqlite", create: createSqlite });

describe.each(databases)("processes in three time zones on $name", ({ kind, create }) => {
  it("use the same weeks, across both changes of the clock", { timeout: 60_000 }, async () => {
    await using database = await create();
    const printed = await Promise.all(
      ZONES.map(async (TZ): Promise<Printed> => {
        const span = [MONDAYS[0]! + 1, MONDAYS.at(-1)! + 1].map(String);
        const args = [CALLER, kind, database.url, "week", ...span];
        const env = { ...process.env, TZ };
        const { stdout } = await promisify(execFile)(process.execPath, args, { env });
        return JSON.parse(stdout) as Printed;
      }),
    );
    expect(new Set(printed.map(({ zone }) => zone)).size).toBe(3);
    const granted: Record<string, number> = {};
    for (const each of printed) {
      for (const [start, count] of Object.entries(each.granted)) {
        granted[start] = (granted[start] ?? 0) + count;
      }
    }
    // Each window grants exactly its tokens, and there are no other windows.
    expect(granted).toEqual(Object.fromEntries(MONDAYS.map((start) => [start, 7])));
  });
});
