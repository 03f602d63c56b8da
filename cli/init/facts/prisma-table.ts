/** Chooses the name of the model of the limits, and its place in the Prisma schema. */
import { overridesName } from "../../../server/store/override-table.js";
import { CliError } from "../../cli-error.js";
import { indentUnit } from "../code/code-style.js";
import {
  type Block,
  blocksOf,
  DATASOURCE,
  readSchema,
  type Schema,
  withoutComments,
} from "./prisma-schema.js";

export interface PrismaTable {
  /** The name of the model. */
  model: string;
  /** The name of its table in the database. */
  table: string;
  isNew: boolean;
  file: string;
  /** One level of indentation in the schema. */
  unit: string;
  /** Whether the model gets a file of its own. */
  isOwnFile: boolean;
  provider: string;
  /** The database schema of the model, where the Prisma schema uses several database schemas. */
  inSchema: string | undefined;
  /** A block with the model's usual name, such as `enum RateLimit in prisma/schema.prisma`. */
  taken: string | undefined;
}

const PROVIDERS = new Set(["sqlite", "postgresql", "postgres", "mysql", "cockroachdb"]);

const NAME = "RateLimit";
/** The name of the model where the schema has another `RateLimit`. */
const OTHER_NAME = "TrpcRateLimit";
const OTHER_TABLE = "trpc_rate_limit";

/**
 * `undefined` if the application has no Prisma schema.
 *
 * @throws CliError when the schema is for a database in which limits cannot be kept.
 */
export async function planPrisma(root: string): Promise<PrismaTable | undefined> {
  const schema = await readSchema(root);
  if (schema === undefined) return undefined;
  const main = [...schema].find(([, text]) => DATASOURCE.test(withoutComments(text)));
  const datasource = main && DATASOURCE.exec(withoutComments(main[1]))?.[1];
  const provider = /^\s*provider\s*=\s*"(\w+)"/m.exec(datasource ?? "")?.[1];
  if (main === undefined || provider === undefined || !PROVIDERS.has(provider)) {
    const found = provider === undefined ? "no provider" : `the provider ${provider}`;
    throw new CliError(
      `the Prisma schema ${[...schema.keys()].join(", ")} has ${found} in its datasource; ` +
        "limits can be kept in SQLite, PostgreSQL, MySQL and MariaDB",
    );
  }
  const blocks = blocksOf(schema);
  const present = blocks.find((block) => block.isOurs);
  if (present !== undefined) {
    const { name: model, table, file } = present;
    const nothing = { unit: "", inSchema: undefined, taken: undefined };
    return { model, table, isNew: false, file, isOwnFile: false, provider, ...nothing };
  }
  const holderOf = (...names: string[]) =>
    [...names, ...names.map(overridesName)].flatMap(
      (name) => blocks.find((block) => block.names.includes(name.toLowerCase())) ?? [],
    )[0];
  const table = usualTable(blocks);
  const holder = holderOf(NAME, table);
  const otherHolder = holder && holderOf(OTHER_NAME, OTHER_TABLE);
  if (otherHolder !== undefined) {
    throw new CliError(
      `the Prisma schema has ${shown(holder!)} and ${shown(otherHolder)}, so init has no name for ` +
        "the model of the limits. Add it under a name of yours, with the " +
        "columns that docs/table.md of trpc-rate-limit shows, and run init again",
    );
  }
  const [inSchema] = /^\s*schemas\s*=\s*\[\s*"([^"]+)"/m.exec(datasource!)?.slice(1) ?? [];
  const own = ownFile(main[0], schema);
  return {
    model: holder === undefined ? NAME : OTHER_NAME,
    table: holder === undefined ? table : OTHER_TABLE,
    isNew: true,
    file: own ?? main[0],
    unit: indentUnit(main[1]),
    isOwnFile: own !== undefined,
    provider,
    inSchema,
    taken: holder && shown(holder),
  };
}

/** The table in the style of the others: `rate_limits` where most models are mapped to snake case. */
function usualTable(blocks: readonly Block[]): string {
  const models = blocks.filter(({ keyword }) => keyword === "model");
  const mapped = models.filter(({ name, table }) => name !== table && /^[a-z\d_]+$/.test(table));
  const isSnakeCase = mapped.some(({ table }) => table.includes("_"));
  if (!isSnakeCase || mapped.length * 2 < models.length) return NAME;
  const plural = mapped.filter(({ table }) => table.endsWith("s"));
  return plural.length * 2 < mapped.length ? "rate_limit" : "rate_limits";
}

const shown = ({ keyword, name, file }: Block) => `${keyword} ${name} in ${file}`;

/** The file for the model alone, if the schema is a folder with several files. */
function ownFile(main: string, schema: Schema): string | undefined {
  if (schema.size < 2) return undefined;
  const files = ["rate-limit.prisma", "trpc-rate-limit.prisma"];
  return files.map((name) => main.replace(/[^/]*$/, name)).find((file) => !schema.has(file));
}
