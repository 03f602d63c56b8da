/**
 * In any project, `init` leaves a file alone, or changes exactly the lines of the printed diff. A second
 * run changes nothing. The other content of JSON stays the same, and code that could be parsed still can.
 */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { parseSync } from "vite";
import { expect, it } from "vitest";
import { differences } from "../../support/as-shown.js";
import { CLIENT, SCHEMA, TABLES } from "../../support/odd-project.js";
import { code, commented, odd, packageJson } from "../../support/odd-texts.js";
import { collectInit } from "../../support/run-init.js";
import { makeFolder, makeT3App } from "../../support/scaffold.js";
import { application, EXPRESS } from "../../support/trpc-applications.js";

type Files = Record<string, string>;

async function check(files: Files, readOnly: readonly string[] = []): Promise<string[]> {
  await using app = await makeFolder(files);
  for (const file of readOnly) await chmod(join(app.root, file), 0o444);
  const before = await app.readAll();
  const printed = await collectInit(app.root);
  const after = await app.readAll();

  expect(differences(before, after, printed)).toEqual([]);
  const changed = Object.keys(after).filter((file) => after[file] !== before[file]);
  expect(changed.filter((file) => readOnly.includes(file))).toEqual([]);
  for (const file of changed.filter((each) => /\.tsx?$/.test(each))) {
    if (parses(file, before[file] ?? ""))
      expect([file, parses(file, after[file]!)]).toEqual([file, true]);
  }
  expect(withoutOurs(after["package.json"]!)).toEqual(withoutOurs(before["package.json"]!));

  await collectInit(app.root);
  expect(await app.readAll()).toEqual(after);
  return changed;
}

/** Duplicate names are errors, too. */
function parses(file: string, bytes: string): boolean {
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  return parseSync(file, text, { showSemanticErrors: true }).errors.length === 0;
}

/** The entries in their order, but for the package's own. */
function withoutOurs(bytes: string): string {
  const text = Buffer.from(bytes, "latin1")
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  return JSON.stringify(JSON.parse(text), (key, value: unknown) =>
    key === "trpc-rate-limit" ? undefined : value,
  );
}

const ENUM = "\nenum RateLimit {\n  LOW\n}\n";
const MYSQL_TABLES = `import { sql } from "drizzle-orm";
import {
  index,
  mysqlTable,
  varchar,
} from "drizzle-orm/mysql-core";

export const posts = mysqlTable(
  "posts",
  { id: varchar({ length: 9 }) },
  (t) => [index("i").on(t.id)],
);
`;

const prisma = fc.record({
  "package.json": odd(packageJson({ "@prisma/client": "7" })),
  "prisma/schema.prisma": odd(fc.constantFrom(SCHEMA, SCHEMA + ENUM).chain(commented)),
  "src/db.ts": odd(code(CLIENT)),
});
const folder = fc.record({
  "package.json": odd(packageJson({ "@prisma/client": "7" })),
  "prisma/main.prisma": odd(commented(SCHEMA)),
  "prisma/post.prisma": odd(fc.constantFrom("model Post {\n  id Int @id\n}\n", ENUM)),
  "db.ts": odd(code(CLIENT)),
});
const drizzle = fc.record({
  "package.json": odd(packageJson({ "drizzle-orm": "1" })),
  "src/db/schema.ts": odd(fc.constantFrom(TABLES, MYSQL_TABLES).chain(code)),
  "src/db/index.ts": odd(code("export const db = drizzle(url);\n")),
});
const plain = fc.record({
  "package.json": odd(packageJson({ pg: "8", express: "5" })),
  "src/db.ts": odd(code(`import pg from "pg";\nexport const pool = new pg.Pool();\n`)),
});

const trpc = fc.record({
  ...Object.fromEntries(
    Object.entries(application(EXPRESS))
      .filter(([file]) => /\.tsx?$/.test(file))
      .map(([file, text]) => [file, odd(code(text))]),
  ),
  "package.json": odd(
    packageJson({ "@trpc/client": "11", "@trpc/server": "11", pg: "8", react: "19", zod: "4" }),
  ),
}) as fc.Arbitrary<Files>;

it.each([
  { name: "tRPC on Express", projects: trpc },
  { name: "a Prisma schema", projects: prisma },
  { name: "a folder of Prisma schemas", projects: folder },
  { name: "a Drizzle schema", projects: drizzle },
  { name: "a pool of pg", projects: plain },
] as { name: string; projects: fc.Arbitrary<Files> }[])(
  "changes a project with $name by the lines that it shows, once",
  { timeout: 60_000 },
  async ({ projects }) => {
    const runs = fc.asyncProperty(projects, fc.subarray([0, 1, 2, 3]), async (files, locked) => {
      const isLocked = locked.length === 1;
      await check(files, isLocked ? Object.keys(files).slice(locked[0]).slice(0, 1) : []);
    });
    await fc.assert(runs, { numRuns: 60, endOnFailure: true });
  },
);

const T3 = ["src/server/api/trpc.ts", "src/server/api/root.ts", "src/trpc/react.tsx"];

it(
  "changes a T3 app by the lines that it shows, once, and wires most of them",
  { timeout: 90_000 },
  async ({ skip }) => {
    const app = await makeT3App("--prisma true --dbProvider sqlite");
    if (typeof app === "string") return skip(app);
    await using _ = app;
    const texts = await Promise.all(T3.map((file) => app.read(file)));
    const others = {
      "package.json": await app.read("package.json"),
      "tsconfig.json": await app.read("tsconfig.json"),
      "prisma/schema.prisma": await app.read("prisma/schema.prisma"),
      "src/server/db.ts": await app.read("src/server/db.ts"),
    };
    let [runs, wired] = [0, 0];
    const files = fc.tuple(...texts.map((text) => odd(code(text))));
    await fc.assert(
      fc.asyncProperty(files, async (odds) => {
        const changed = await check({
          ...others,
          ...Object.fromEntries(T3.map((file, i) => [file, odds[i]!])),
        });
        runs++;
        if (T3.every((file) => changed.includes(file))) wired++;
      }),
      { numRuns: 60, endOnFailure: true },
    );
    expect(wired / runs).toBeGreaterThan(0.3);
  },
);
