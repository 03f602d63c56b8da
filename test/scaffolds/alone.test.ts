/**
 * The package with only one driver: optional packages stay out of node_modules, and neither the types nor
 * the code of the package need them.
 */
import { copyFile, cp } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, inject, it } from "vitest";
import { ROOT } from "../docs/pages.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { type Case, NEWEST, OLDEST } from "./alone-cases.js";
import { makeProject, TSC, writeConfig } from "./project.js";

const PROGRAMS = fileURLToPath(new URL("fixtures/alone/", import.meta.url));

const databases = {
  postgresql: () => createPostgres(),
  mysql: () => createMysql(),
  sqlite: () => createSqlite(),
};

/** Peers and drivers, of which an application has only those that it asked for. */
const OPTIONAL = [
  "@libsql/client",
  "@prisma/client",
  "@tanstack/react-query",
  "@trpc/client",
  "@trpc/server",
  "better-sqlite3",
  "drizzle-orm",
  "kysely",
  "mariadb",
  "mysql2",
  "pg",
  "postgres",
  "prisma",
  "react",
  "zod",
];

describe.each([
  { age: "newest", cases: NEWEST },
  { age: "oldest", cases: OLDEST },
])("with the $age peers", ({ age, cases }) => {
  it.concurrent.for(cases)(
    "the program $name needs no driver but its own",
    async (wanted, { expect, skip }) => {
      const missing = inject("unreachable") || reasonToSkip(wanted);
      if (missing) skip(missing);
      const { name, packages, brings = [], database, typesOnly = false } = wanted;
      await using project = await makeProject();
      const warnings = await project.install([inject("tarball"), ...packages]);
      expect(warnings).not.toContain("ERESOLVE");

      const asked = packages.filter((text) => !text.startsWith("--")).map(nameOf);
      const installed = await project.installed();
      expect(installed).toEqual(expect.arrayContaining(["trpc-rate-limit", ...asked]));
      const pulled = OPTIONAL.filter((optional) => installed.includes(optional));
      expect(pulled.filter((each) => ![...asked, ...brings].includes(each))).toEqual([]);

      await writeProgram(project.root, wanted);
      expect(await project.typeErrors(TSC)).toEqual([]);
      if (!typesOnly) {
        await using server = database && (await databases[database]());
        const args = ["out/program.js", ...(server ? [server.url] : [])];
        expect(await project.run(process.execPath, args)).toBe("granted, then denied\n");
      }
      project.report(`${name}, ${age} peers (${installed.length} packages)`);
    },
  );
});

function reasonToSkip({ database, generated, isDaily }: Case): string | undefined {
  if (!isDaily && !isNightly) return NIGHTLY_ONLY;
  if (database === "mysql" && mysqlUrl === undefined) return "needs TEST_MYSQL_URL";
  if (generated !== undefined && !existsSync(join(ROOT, generated))) {
    return `needs ${generated}: npm run generate, npm run install:test-projects`;
  }
  return undefined;
}

async function writeProgram(root: string, { name, packages, generated }: Case): Promise<void> {
  const extension = existsSync(join(PROGRAMS, `${name}.tsx`)) ? "tsx" : "ts";
  await copyFile(join(PROGRAMS, `${name}.${extension}`), join(root, `program.${extension}`));
  if (generated !== undefined) {
    await cp(join(ROOT, generated), join(root, "generated"), { recursive: true });
  }
  const output = { outDir: "out", rootDir: "." };
  await writeConfig(root, `program.${extension}`, packages, output);
}

/** The name in `@scope/name@range`. */
const nameOf = (wanted: string) => wanted.replace(/(?<=.)@.*/, "");
