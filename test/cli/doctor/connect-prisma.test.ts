/** `doctor` in an application with Prisma's own engine and no driver. */
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { createPostgres } from "../../support/database.js";
import { faultsOf, findingOf, runDoctor } from "../../support/run-doctor.js";
import { makeFolder } from "../../support/scaffold.js";

const pg = createRequire(import.meta.url).resolve("pg");

/**
 * A client in the shape of a generated one. The engine is a download of its own, so statements run
 * through `pg` with the types that it gives to parameters, and fail with its messages.
 */
const client = (version = "6.6.0", provider = "postgresql") => `
const { Pool } = require(${JSON.stringify(pg)});
const typeOf = (value) => Array.isArray(value) ? typeOf(value[0] ?? "") + "[]"
  : typeof value === "number" ? (Number.isInteger(value) ? "bigint" : "float8") : "text";
exports.PrismaClient = class {
  _clientVersion = "${version}";
  _activeProvider = "${provider}";
  constructor({ datasourceUrl, adapter }) {
    if (Number.parseInt(this._clientVersion) > 6 && !adapter) throw new Error("needs an adapter");
    this.pool = new Pool({ connectionString: datasourceUrl, max: 1 });
  }
  async run(text, params) {
    const typed = text.replace(/\\$(\\d+)/g, (found, i) => "(" + found + "::" + typeOf(params[i - 1]) + ")");
    return this.pool.query(typed, params).catch((error) => {
      throw new Error("\\nInvalid \`prisma.$queryRawUnsafe()\` invocation:\\n\\n\\n" + error.message);
    });
  }
  $queryRawUnsafe = async (text, ...params) => (await this.run(text, params)).rows;
  $executeRawUnsafe = async (text, ...params) => (await this.run(text, params)).rowCount;
  $disconnect = () => this.pool.end();
};
`;

const withoutEngine = () =>
  client().replace(
    /const typed = .*/,
    'throw new Error("Prisma Client could not locate the Query Engine");',
  );

const SCHEMA = (output: string) => `generator client {
  provider = "prisma-client-js"
${output}}

datasource db {
  provider = "postgresql"
  url      = env("DATABASE_URL")
}
`;

const PACKAGE = { "package.json": "{}" };
const atDefault = (code: string) => ({
  ...PACKAGE,
  "prisma/schema.prisma": SCHEMA(""),
  "node_modules/@prisma/client/package.json": `{ "name": "@prisma/client", "main": "index.js" }`,
  "node_modules/@prisma/client/index.js": code,
});
const atOutput = (code: string) => ({
  ...PACKAGE,
  "prisma/schema.prisma": SCHEMA(`  output   = "../generated/prisma"\n`),
  "generated/prisma/package.json": `{ "main": "index.js" }`,
  "generated/prisma/index.js": code,
});

it.each([
  ["in node_modules", atDefault(client())],
  ["where the schema says", atOutput(client())],
])("checks everything through the client %s", async (_, files) => {
  await using database = await createPostgres();
  await using app = await makeFolder(files);
  const findings = await runDoctor(database.url, { root: app.root });
  expect(faultsOf(findings)).toEqual([]);
  expect(findingOf(findings, "connect").message).toMatch(/ through Prisma 6\.6\.0$/);
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(["engine", "table", "future", "grants", "clock", "writable"]),
  );
});

it("says why the database cannot be reached, in Prisma's words", async () => {
  await using app = await makeFolder(atDefault(client()));
  const findings = await runDoctor("postgresql://127.0.0.1:1/none", { root: app.root });
  expect(findingOf(findings, "connect")).toMatchObject({
    level: "error",
    message: expect.stringMatching(/^cannot connect to .*: connect ECONNREFUSED/),
  });
});

it.each([
  ["it was not generated", `throw new Error("@prisma/client did not initialize yet");`],
  ["it is for another database", client("6.6.0", "sqlite")],
  ["it wants an adapter", client("7.10.0")],
  ["its engine is missing", withoutEngine()],
])("says which driver to install, and why, if %s", async (_, code) => {
  await using app = await makeFolder(atDefault(code));
  const findings = await runDoctor("postgresql://127.0.0.1:1/none", { root: app.root });
  expect(faultsOf(findings)).toContain("error connect");
  expect(findings.filter(({ check }) => check === "connect")).toMatchObject([
    {
      message:
        "the command asks the database through a driver, and the application has none of pg, postgres",
      advice: expect.stringMatching(
        /^run npm install --no-save pg, .* npx prisma generate is enough$/,
      ),
    },
  ]);
});
