/** Finds the application's Prisma schema, and the models of the limits in it. */
import { CliError } from "../../cli-error.js";
import { Code } from "../code/code.js";
import { findAll, nameOf } from "../code/syntax.js";
import { isFolder, listFiles, readText } from "../files/files.js";

/** The texts of the schema, by file, relative to the application's folder. */
export type Schema = Map<string, string>;

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
export async function readSchema(root: string): Promise<Schema | undefined> {
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
  return (await readBlocks(root)).find(({ isOurs }) => isOurs)?.table;
}

/** The table of overrides, if the application has a Prisma schema with this table. */
export async function findOverridesModel(root: string): Promise<string | undefined> {
  return (await readBlocks(root)).find(({ isOfOverrides }) => isOfOverrides)?.table;
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

export const DATASOURCE = /^\s*datasource\s+\w+\s*\{([\s\S]*?)^\s*\}/m;
const BLOCK = /^\s*(model|view|enum|type)\s+(\w+)\s*\{([^\n{}]*\}|[\s\S]*?^\s*\})/gm;
const KEY = /@@(?:id|unique)\(\s*(?:fields\s*:\s*)?\[\s*name\s*,\s*key\s*,\s*shard\s*\]/;

const OVERRIDES = /^\s*rule\s[\s\S]*^\s*setAt\s/m;

export function blocksOf(schema: Schema): Block[] {
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
export function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/.*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, " "),
  );
}
