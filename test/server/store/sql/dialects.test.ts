/** The differences between databases stand in the folder of each dialect, and in no table elsewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { DIALECTS } from "../../../../server/store/sql/dialects.js";

const NAMES = Object.keys(DIALECTS).join("|");

/** The type of a table, a comparison, a case, and a member of an object. */
const BY_NAME = [
  `Record<\\s*(?:DialectName|"(?:${NAMES})")`,
  `[!=]== "(?:${NAMES})"`,
  `"(?:${NAMES})" [!=]==`,
  `case "(?:${NAMES})"`,
  `^\\s*(?:async )?(?:${NAMES})(?:: |\\()`,
].map((pattern) => new RegExp(pattern, "m"));

/** What a client of a database decides by itself, and not the database. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "dialects.ts": "the list of all dialects",
  "database-errors.ts": "the adapters of Prisma name SQLite in their errors",
  "drizzle-driver.ts": "databases of Drizzle have other methods for each dialect",
  "drizzle-parts.ts": "not every session of Drizzle was tested",
  "kysely-store.ts": "its option takes a pool of pg",
  "bun-sql-client.ts": "one client of Bun is for several databases, and names its own",
  "bun-sql-driver.ts":
    "Bun sends parameters, and begins transactions, in another way on each of them",
  "prisma-6.ts": "the engine of Prisma 6 needs other casts for each provider",
  "prisma-driver.ts": "one adapter of Prisma prepares all statements",
  "prisma-store.ts": "each adapter of Prisma has a pool of another kind",
};

const ofDialect = new RegExp(`^server/store/sql/(?:${NAMES})/`);

function tablesByName(): string[] {
  return ["core", "server", "client", "testing"]
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    )
    .filter((file) => /\.tsx?$/.test(file) && !ofDialect.test(file))
    .filter((file) => {
      const text = readFileSync(file, "utf8");
      return BY_NAME.some((pattern) => pattern.test(text));
    });
}

it("no file but those of clients asks for the name of a dialect", () => {
  const found = tablesByName().map((file) => basename(file));
  expect(found.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
});
