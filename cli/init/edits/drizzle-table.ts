/** The text of the tables of the limits, for a schema of Drizzle. */
import { MAX_RULE, overridesName } from "../../../server/store/override-table.js";
import type { Core } from "../facts/drizzle-schema.js";

/** The local names of Drizzle's functions in the file, and the names of the added tables. */
export interface TableNames {
  core: Core;
  /** The function that makes a table. */
  create: string;
  primaryKey: string;
  customType: string;
  /** The name of the exported constant. */
  name: string;
  /** The name of the table in the database. */
  table: string;
  /** Whether rows are hidden from roles without a policy. Only on PostgreSQL. */
  isHidden: boolean;
  /** Whether Drizzle takes constraints as an object, and not as a list. */
  isOld: boolean;
}

/** The types of columns. `double` is the name of a function; `text` and `whole` are calls. */
const COLUMNS: Record<Core, { text: string; whole: string; double: string }> = {
  pg: { text: "d.text()", whole: "d.integer()", double: "d.doublePrecision" },
  mysql: { text: "bytes()", whole: "d.int()", double: "d.double" },
  sqlite: { text: "d.text()", whole: "d.integer()", double: "d.real" },
};

/** MySQL's usual collations would make one bucket of the keys `ann` and `Ann`. */
const bytes = (
  customType: string,
) => `/** Text whose upper and lower case differ, in keys of limits. */
const bytes = ${customType}<{ data: string }>({
  dataType: () => "varchar(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
});

`;

const HIDDEN = `
// No policy: only the owner of the table and roles with BYPASSRLS see its rows, and no visitor.`;

/**
 * The code of both tables. Column names of two words are written out, or Drizzle's `casing: "snake_case"`
 * would change them.
 */
export function tableText(names: TableNames): string {
  const { core, create, name, table } = names;
  const key = (columns: string) => {
    const made = `${names.primaryKey}({ columns: [${columns}] })`;
    return names.isOld ? `({ key: ${made} })` : `[${made}]`;
  };
  const [note, end] = names.isHidden ? [HIDDEN, ").enableRLS();"] : ["", ");"];
  const { text, whole, double } = COLUMNS[core];
  return `${core === "mysql" ? bytes(names.customType) : ""}/** The limits of trpc-rate-limit: how much one key had used of one limit, at one instant. */${note}
export const ${name} = ${create}(
  "${table}",
  (d) => ({
    name: ${text}.notNull(),
    key: ${text}.notNull().default(""),
    shard: ${whole}.notNull().default(0),
    used: ${double}().notNull(),
    ts: ${double}().notNull(),
  }),
  (t) => ${key("t.name, t.key, t.shard")},
${end}

/** What counts instead of a limit, for one key or for all of them; see \`overrides\` of trpc-rate-limit. */${note}
export const ${overridesName(name)} = ${create}(
  "${overridesName(table)}",
  (d) => ({
    name: ${text}.notNull(),
    key: ${text}.notNull().default(""),
    rule: ${core === "mysql" ? `d.varchar({ length: ${MAX_RULE} })` : text}.notNull(),
    until: ${double}().notNull(),
    setAt: ${double}("setAt").notNull(),
  }),
  (t) => ${key("t.name, t.key")},
${end}
`;
}
