/** Finds the application's Prisma schema, and adds the table of the limits to it once. */
import { MAX_RULE, overridesName } from "../../server/store/override-table.js";
import { CliError } from "../cli-error.js";
import { Code } from "./code/code.js";
import { indentUnit } from "./code/code-style.js";
import { findAll, nameOf } from "./code/syntax.js";
import { isFolder, listFiles, readText } from "./files.js";

/** The texts of the schema, by file, relative to the application's folder. */
type Schema = Map<string, string>;

export interface PrismaTable {
  /** The name of the model. */
  model: string;
  /** The text to add to the schema; `undefined` if the schema has the model already. */
  text: string | undefined;
  file: string;
  /** Whether the model gets a file of its own. */
  isOwnFile: boolean;
  provider: string;
  /** The database schema of the model, where the Prisma schema uses several database schemas. */
  inSchema: string | undefined;
  /** A block with the model's usual name, such as `enum RateLimit in prisma/schema.prisma`. */
  taken: string | undefined;
}

/** The config files of Prisma, in the order in which Prisma looks for them. */
const CONFIGS = [
  "prisma7.config",
  ".config/prisma7",
  "prisma.config",
  ".config/prisma",
  ".config/prisma.config",
].flatMap((name) =>
  ["ts", "mts", "cts", "js", "mjs", "cjs"].map((extension) => `${name}.${extension}`),
);
const PLACES = ["prisma/schema.prisma", "schema.prisma", "prisma/schema", "prisma"];
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
    const { name: model, file } = present;
    const nothing = { text: undefined, inSchema: undefined, taken: undefined };
    return { model, file, isOwnFile: false, provider, ...nothing };
  }
  const holderOf = (...names: string[]) =>
    blocks.find((block) => names.some((name) => block.names.includes(name.toLowerCase())));
  const holder = holderOf(NAME, overridesName(NAME));
  const others = [OTHER_NAME, OTHER_TABLE];
  const otherHolder = holder && holderOf(...others, ...others.map(overridesName));
  if (otherHolder !== undefined) {
    throw new CliError(
      `the Prisma schema has ${shown(holder!)} and ${shown(otherHolder)}, so init has no name for ` +
        "the model of the limits. Add it under a name of yours, with the " +
        "columns that docs/table.md of trpc-rate-limit shows, and run init again",
    );
  }
  const name = holder === undefined ? NAME : OTHER_NAME;
  const [inSchema] = /^\s*schemas\s*=\s*\[\s*"([^"]+)"/m.exec(datasource!)?.slice(1) ?? [];
  const own = ownFile(main[0], schema);
  const text = modelText({ name, provider, inSchema, unit: indentUnit(main[1]) });
  return {
    model: name,
    text,
    file: own ?? main[0],
    isOwnFile: own !== undefined,
    provider,
    inSchema,
    taken: holder && shown(holder),
  };
}

const shown = ({ keyword, name, file }: Block) => `${keyword} ${name} in ${file}`;

/** The file for the model alone, if the schema is a folder with several files. */
function ownFile(main: string, schema: Schema): string | undefined {
  if (schema.size < 2) return undefined;
  const file = main.replace(/[^/]*$/, "rate-limit.prisma");
  return schema.has(file) ? undefined : file;
}

async function readSchema(root: string): Promise<Schema | undefined> {
  const named = await namedPlace(root);
  for (const place of named === undefined ? PLACES : [named]) {
    const files = (await isFolder(root, place))
      ? await listFiles(root, place, /\.prisma$/)
      : [place];
    const texts = await Promise.all(
      files.map(async (file): Promise<[string, string | undefined]> => [
        file,
        await readText(root, file),
      ]),
    );
    const found = texts.filter((entry): entry is [string, string] => entry[1] !== undefined);
    if (found.length > 0) return new Map(found);
  }
  if (named === undefined) return undefined;
  throw new CliError(`${named}, which Prisma's config names as the schema, does not exist`);
}

/** The place that the config or package.json names. */
async function namedPlace(root: string): Promise<string | undefined> {
  for (const file of CONFIGS) {
    const text = await readText(root, file);
    const code = text === undefined ? undefined : Code.read(file, text);
    const [named] = code
      ? findAll(code.program, "ObjectProperty").filter(({ node }) => nameOf(node.key) === "schema")
      : [];
    if (named === undefined) continue;
    // The value is one text, or the arguments of `path.join`.
    const parts = findAll(named.node.value, "StringLiteral", "TemplateElement").map(({ node }) =>
      node.type === "StringLiteral" ? node.value : node.value.raw,
    );
    if (parts.length > 0) return tidied(parts.join("/"));
  }
  const packageJson = JSON.parse((await readText(root, "package.json")) ?? "{}") as {
    prisma?: { schema?: unknown };
  };
  const schema = packageJson.prisma?.schema;
  return typeof schema === "string" ? tidied(schema) : undefined;
}

const tidied = (path: string) => path.replace(/^\.\//, "").replace(/\/$/, "");

export async function hasPrismaSchema(root: string): Promise<boolean> {
  return (await readSchema(root)) !== undefined;
}

/** The table of the limits, if the application has a Prisma schema with this table. */
export async function findOurModel(root: string): Promise<string | undefined> {
  const schema = await readSchema(root);
  return schema && blocksOf(schema).find(({ isOurs }) => isOurs)?.table;
}

/** The table of overrides, if the application has a Prisma schema with this table. */
export async function findOverridesModel(root: string): Promise<string | undefined> {
  const schema = await readSchema(root);
  return schema && blocksOf(schema).find(({ isOfOverrides }) => isOfOverrides)?.table;
}

/**
 * The models, enums and so on of the application's Prisma schema; empty if the application has no schema.
 */
export async function readBlocks(root: string): Promise<Block[]> {
  return blocksOf((await readSchema(root)) ?? new Map());
}

/** A named block of a schema, such as a model or an enum. */
export interface Block {
  keyword: string;
  file: string;
  name: string;
  /** The lines between its braces, without comments. */
  body: string;
  table: string;
  /**
   * The name of the block and the name of its table, in lower case, because some databases ignore the
   * case.
   */
  names: string[];
  isOurs: boolean;
  isOfOverrides: boolean;
}

const DATASOURCE = /^\s*datasource\s+\w+\s*\{([\s\S]*?)^\s*\}/m;
const BLOCK = /^\s*(model|view|enum|type)\s+(\w+)\s*\{([^\n{}]*\}|[\s\S]*?^\s*\})/gm;
const KEY = /@@(?:id|unique)\(\s*(?:fields\s*:\s*)?\[\s*name\s*,\s*key\s*,\s*shard\s*\]/;

const OVERRIDES = /^\s*rule\s[\s\S]*^\s*setAt\s/m;

function blocksOf(schema: Schema): Block[] {
  return [...schema].flatMap(([file, text]) =>
    [...withoutComments(text).matchAll(BLOCK)].map(([, keyword, name, body]): Block => {
      const table = /@@map\((?:name:\s*)?"([^"]+)"\)/.exec(body!)?.[1] ?? name!;
      return {
        keyword: keyword!,
        file,
        name: name!,
        body: body!.slice(0, -1),
        table,
        names: [name!.toLowerCase(), table.toLowerCase()],
        isOurs: keyword === "model" && KEY.test(body!),
        isOfOverrides: keyword === "model" && OVERRIDES.test(body!),
      };
    }),
  );
}

/** The schema with spaces in place of comments. Slashes in quotes are no comments. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/.*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, " "),
  );
}

interface ModelOptions {
  name: string;
  provider: string;
  inSchema: string | undefined;
  unit: string;
}

/**
 * The length of a name or a key on MySQL. With the default length of Prisma, 191, MySQL could cut off a
 * key that is too long for the limiter.
 */
const LENGTH = 192;

function modelText({ name, provider, inSchema, unit }: ModelOptions): string {
  const text = provider === "mysql" ? ` @db.VarChar(${LENGTH})` : "";
  const attributes = [
    "@@id([name, key, shard])",
    ...(name === NAME ? [] : [`@@map("${OTHER_TABLE}")`]),
    ...(inSchema === undefined ? [] : [`@@schema("${inSchema}")`]),
  ];
  const note =
    provider === "mysql"
      ? [
          "/// Its migration needs a binary collation for name and key; see docs/cli.md of trpc-rate-limit.",
        ]
      : [];
  return [
    "/// The limits of trpc-rate-limit: how much one key had used of one limit, at one instant.",
    ...note,
    `model ${name} {`,
    `${unit}name  String${text}`,
    `${unit}key   String @default("")${text}`,
    `${unit}shard Int    @default(0)`,
    `${unit}used  Float`,
    `${unit}ts    Float`,
    "",
    ...attributes.map((attribute) => unit + attribute),
    "}",
    "",
    ...overridesText({ name, provider, inSchema, unit }),
  ].join("\n");
}

function overridesText({ name, provider, inSchema, unit }: ModelOptions): string[] {
  const text = provider === "mysql" ? ` @db.VarChar(${LENGTH})` : "";
  const attributes = [
    "@@id([name, key])",
    ...(name === NAME ? [] : [`@@map("${overridesName(OTHER_TABLE)}")`]),
    ...(inSchema === undefined ? [] : [`@@schema("${inSchema}")`]),
  ];
  return [
    "/// What counts instead of a limit, for one key or for all of them; see `overrides` of trpc-rate-limit.",
    `model ${overridesName(name)} {`,
    `${unit}name  String${text}`,
    `${unit}key   String @default("")${text}`,
    `${unit}rule  String${provider === "mysql" ? ` @db.VarChar(${MAX_RULE})` : ""}`,
    `${unit}until Float`,
    `${unit}setAt Float`,
    "",
    ...attributes.map((attribute) => unit + attribute),
    "}",
    "",
  ];
}

/** The SQL that MySQL's migration needs, and that Prisma's schema language cannot express. */
export function collationSql(table: string): string {
  const type = `VARCHAR(${LENGTH}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`;
  return [table, overridesName(table)]
    .flatMap((each) => [
      `ALTER TABLE \`${each}\``,
      `    MODIFY \`name\` ${type},`,
      `    MODIFY \`key\` ${type} DEFAULT '';`,
    ])
    .join("\n");
}

/** The name of the model's table, unless the author has changed the name. */
export function tableOf(model: string): string {
  return model === OTHER_NAME ? OTHER_TABLE : model;
}
