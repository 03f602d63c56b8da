/** Finds the application's Drizzle schema, and adds the table of the limits to it once. */
import { MAX_RULE, overridesName } from "../../server/store/override-table.js";
import { indentUnit } from "./anchors.js";
import { appended, codeOf, matchesInCode, usesName } from "./code.js";
import { codeStyleOf, inStyle } from "./code-style.js";
import { propose } from "./editable.js";
import { isFolder, listFiles, readText } from "./files.js";
import type { ByHand, Change } from "./plan.js";

type Core = "pg" | "mysql" | "sqlite";

export interface DrizzleTable {
  /** The name of the exported table, and its file; `undefined` if `init` cannot tell. */
  table: { name: string; file: string } | undefined;
  change: Change | undefined;
  byHand: ByHand | undefined;
}

const CONFIGS = ["ts", "mts", "js", "mjs", "json"].map(
  (extension) => `drizzle.config.${extension}`,
);
const PLACES = [
  "src/server/db/schema.ts",
  "src/db/schema.ts",
  "db/schema.ts",
  "server/db/schema.ts",
];

const SCHEMA = /\bschema\s*:\s*(.*)/;
// Its names are texts.
const JSON_SCHEMA = /(?<="schema"\s*):\s*(.*)/;

const MORE = "see docs/drizzle.md of trpc-rate-limit for the table of each database";

/** `undefined` if the application does not use Drizzle. */
export async function planDrizzle(
  root: string,
  packages: ReadonlySet<string>,
): Promise<DrizzleTable | undefined> {
  if (!packages.has("drizzle-orm")) return undefined;
  const named = await namedPlace(root);
  for (const file of named === undefined ? PLACES : [named]) {
    const before = await readText(root, file);
    if (before !== undefined) return planFile(root, file, before);
  }
  return unknown(named ?? "drizzle.config.ts", "the schema is not one file that is named there");
}

/** The table of the limits, if the application has a Drizzle schema with one. */
export function findOurTable(root: string): Promise<string | undefined> {
  return findTable(root, PRESENT);
}

/** The table of overrides, if the application has a Drizzle schema with one. */
export function findOverridesTable(root: string): Promise<string | undefined> {
  return findTable(root, OVERRIDES);
}

async function findTable(root: string, pattern: RegExp): Promise<string | undefined> {
  const named = await namedPlace(root);
  for (const file of named === undefined ? PLACES : await withNeighbours(root, named)) {
    const text = (await readText(root, file)) ?? "";
    const [, , create, table] = matchesInCode(text, pattern)[0] ?? [];
    if (table === undefined) continue;
    const prefix = /TableCreator\(\s*\(name\) => `(\w*)\$\{name\}`/.exec(text)?.[1] ?? "";
    return create === matchesInCode(text, CREATOR)[0]?.[1] ? prefix + table : table;
  }
  return undefined;
}

/** A file of exports only, `index.ts`, has its tables in the files beside it. */
async function withNeighbours(root: string, named: string): Promise<string[]> {
  const folder = /^(.+)\/index\.[cm]?[jt]s$/.exec(named)?.[1];
  if (folder === undefined || !(await isFolder(root, folder))) return [named];
  return [named, ...(await listFiles(root, folder, /\.[cm]?[jt]s$/))];
}

function unknown(file: string, why: string): DrizzleTable {
  return { table: undefined, change: undefined, byHand: { file, why, lines: `// ${MORE}` } };
}

async function namedPlace(root: string): Promise<string | undefined> {
  for (const file of CONFIGS) {
    const text = await readText(root, file);
    const schema = matchesInCode(text ?? "", file.endsWith("json") ? JSON_SCHEMA : SCHEMA)[0]?.[1];
    if (schema === undefined) continue;
    const place = /^["'`]([^"'`]+)["'`]/.exec(schema)?.[1];
    return place?.replace(/^\.\//, "") ?? file;
  }
  return undefined;
}

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*(["'])drizzle-orm\/(pg|mysql|sqlite)-core\2/m;
const CREATOR = /^export const (\w+) = (pg|mysql|sqlite)TableCreator\(/m;

/** A table that has shards. The groups are its constant, the function and its name. */
const PRESENT =
  /^export const (\w+) = (\w+)\(\s*["']([^"']+)["'],(?:(?!^export)[\s\S])*?\bshard\s*:/m;

const OVERRIDES =
  /^export const (\w+) = (\w+)\(\s*["']([^"']+)["'],(?:(?!^export)[\s\S])*?\bsetAt\s*:/m;

async function planFile(root: string, file: string, before: string): Promise<DrizzleTable> {
  const existing = matchesInCode(before, PRESENT)[0]?.[1];
  if (existing !== undefined) {
    return { table: { name: existing, file }, change: undefined, byHand: undefined };
  }
  const [found] = matchesInCode(before, IMPORT);
  if (found === undefined || /\bas\b/.test(found[1]!)) {
    return unknown(
      file,
      "it has no import of drizzle-orm/pg-core, mysql-core or sqlite-core that init can extend",
    );
  }
  const core = found[3] as Core;
  const isTaken = /\b(rateLimits|rate_limits)\b/.test(before);
  const name = isTaken ? "trpcRateLimits" : "rateLimits";
  const creator = matchesInCode(before, CREATOR)[0]?.[1];
  const wanted = [
    "primaryKey",
    ...(core === "mysql" ? ["customType"] : []),
    ...(creator === undefined ? [`${core}Table`] : []),
  ];
  const rest = before.slice(0, found.index) + before.slice(found.index + found[0].length);
  const missing = wanted.filter((each) => !namesOf(found[1]!).includes(each));
  const made = [name, overridesName(name), ...(core === "mysql" ? ["bytes"] : [])];
  const clash = [...missing, ...made].find((each) => usesName(rest, each));
  if (clash !== undefined) return unknown(file, `it uses the name ${clash} for something else`);
  const table = tableText(core, {
    create: creator ?? `${core}Table`,
    name,
    table: isTaken ? "trpc_rate_limits" : "rate_limits",
  }).replace(/^(?: {2})+/gm, (spaces) => indentUnit(before).repeat(spaces.length / 2));
  const after = appended(withNames(before, found, missing), table);
  const proposal = await propose(root, { file, before, after }, table);
  return { table: { name, file }, ...proposal };
}

/** The names between the braces of an import, without its comments. */
function namesOf(list: string): string[] {
  return codeOf(list)
    .split(",")
    .flatMap((name) => name.trim() || []);
}

/** The file with more names imported. A list with comments stays as it is, beside another import. */
function withNames(before: string, found: RegExpExecArray, missing: readonly string[]): string {
  if (missing.length === 0) return before;
  const [statement, list, quote, core] = found as unknown as [string, string, string, Core];
  if (/\/[/*]/.test(list)) {
    const end = /;\s*$/.test(before.slice(found.index + statement.length).split("\n")[0]!)
      ? ";"
      : "";
    const line = `import { ${missing.join(", ")} } from ${quote}drizzle-orm/${core}-core${quote}${end}\n`;
    return before.slice(0, found.index) + line + before.slice(found.index);
  }
  const start = found.index + statement.indexOf("{") + 1;
  return before.slice(0, start) + extended(list, missing) + before.slice(start + list.length);
}

/** The names between the braces of an import, with others added. */
function extended(list: string, missing: readonly string[]): string {
  const all = [...new Set([...namesOf(list), ...missing])].toSorted((a, b) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : 1,
  );
  const line = /\n([ \t]+)\S/.exec(list);
  if (line !== null) return `\n${all.map((name) => `${line[1]}${name},\n`).join("")}`;
  const single = ` ${all.join(", ")} `;
  return single.length <= 40 ? single : `\n${all.map((name) => `  ${name},\n`).join("")}`;
}

interface TableNames {
  create: string;
  /** Of the exported constant. */
  name: string;
  /** In the database. */
  table: string;
}

/** A file that has only the table, in the style of another one. */
export function tableFileText(
  core: Core,
  isTaken: boolean,
  model: string,
): { name: string; text: string } {
  const name = isTaken ? "trpcRateLimits" : "rateLimits";
  const create = `${core}Table`;
  const table = isTaken ? "trpc_rate_limits" : "rate_limits";
  const names = [...(core === "mysql" ? ["customType"] : []), create, "primaryKey"].toSorted();
  const line = `import { ${names.join(", ")} } from "drizzle-orm/${core}-core";\n\n`;
  const text = inStyle(line + tableText(core, { create, name, table }), codeStyleOf(model));
  const unit = indentUnit(model);
  return { name, text: text.replace(/^(?: {2})+/gm, (spaces) => unit.repeat(spaces.length / 2)) };
}

/** `double` is the name of a function. */
const COLUMNS: Record<Core, { text: string; whole: string; double: string }> = {
  pg: { text: "d.text()", whole: "d.integer()", double: "d.doublePrecision" },
  mysql: { text: "bytes()", whole: "d.int()", double: "d.double" },
  sqlite: { text: "d.text()", whole: "d.integer()", double: "d.real" },
};

/** MySQL's usual collations would make one bucket of the keys `ann` and `Ann`. */
const BYTES = `/** Text whose upper and lower case differ, in keys of limits. */
const bytes = customType<{ data: string }>({
  dataType: () => "varchar(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
});

`;

/** A name of two words is said, or Drizzle's `casing: "snake_case"` makes another one of it. */
function tableText(core: Core, { create, name, table }: TableNames): string {
  const { text, whole, double } = COLUMNS[core];
  return `${core === "mysql" ? BYTES : ""}/** The limits of trpc-rate-limit: how many tokens one limit had for one key, at one instant. */
export const ${name} = ${create}(
  "${table}",
  (d) => ({
    name: ${text}.notNull(),
    key: ${text}.notNull().default(""),
    shard: ${whole}.notNull().default(0),
    value: ${double}().notNull(),
    ts: ${double}().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.name, t.key, t.shard] })],
);

/** What counts instead of a limit, for one key or for all of them; see \`overrides\` of trpc-rate-limit. */
export const ${overridesName(name)} = ${create}(
  "${overridesName(table)}",
  (d) => ({
    name: ${text}.notNull(),
    key: ${text}.notNull().default(""),
    rule: ${core === "mysql" ? `d.varchar({ length: ${MAX_RULE} })` : text}.notNull(),
    until: ${double}().notNull(),
    setAt: ${double}("setAt").notNull(),
  }),
  (t) => [primaryKey({ columns: [t.name, t.key] })],
);
`;
}
