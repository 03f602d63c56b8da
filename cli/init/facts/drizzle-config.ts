/** Finds the files of the schema of Drizzle, by its config or at a usual place. */
import type { Node } from "@babel/types";
import { Code } from "../code/code.js";
import { bare, findAll, nameOf } from "../code/syntax.js";
import { isFolder, listFiles, readText } from "../files/files.js";

const CONFIGS = ["ts", "mts", "js", "mjs"].map((extension) => `drizzle.config.${extension}`);
const PLACES = [
  "src/server/db/schema.ts",
  "src/db/schema.ts",
  "db/schema.ts",
  "server/db/schema.ts",
];
const SOURCE = /\.[cm]?[jt]s$/;

/** The settings in the config of Drizzle. */
interface Config {
  file: string;
  /** A file, a folder, or a pattern of files; `undefined` where the setting is not one text. */
  schema: string | undefined;
  dialect: string | undefined;
}

/** The place of the schema. Paths are relative to the folder that was searched. */
export type DrizzleSchema =
  | { kind: "file"; file: string; dialect: string | undefined }
  /** The schema is all files of the folder. */
  | { kind: "folder"; folder: string; dialect: string | undefined }
  | { kind: "unknown"; file: string; dialect: string | undefined };

/** `undefined` if there is neither a config nor a file at a usual place. */
export async function findDrizzleSchema(root: string): Promise<DrizzleSchema | undefined> {
  const config = await readConfig(root);
  if (config === undefined) {
    for (const file of PLACES) {
      if ((await readText(root, file)) !== undefined) {
        return { kind: "file", file, dialect: undefined };
      }
    }
    return undefined;
  }
  const { schema, dialect } = config;
  const place = schema?.replace(/^\.\//, "").replace(/\/$/, "") ?? "";
  const folder = place.replace(/\/(?:\*\*\/)?\*(?:\.[cm]?[jt]s)?$/, "");
  if (schema === undefined || /[*{[?]/.test(folder)) {
    return { kind: "unknown", file: config.file, dialect };
  }
  if (await isFolder(root, folder)) {
    const index = (await listFiles(root, folder, /^index\.[cm]?[jt]s$/)).find(
      (file) => file.slice(folder.length + 1) === file.split("/").at(-1),
    );
    return index === undefined
      ? { kind: "folder", folder, dialect }
      : { kind: "file", file: index, dialect };
  }
  return (await readText(root, place)) === undefined
    ? { kind: "unknown", file: place, dialect }
    : { kind: "file", file: place, dialect };
}

async function readConfig(root: string): Promise<Config | undefined> {
  for (const file of CONFIGS) {
    const text = await readText(root, file);
    if (text === undefined) continue;
    const code = Code.read(file, text);
    const values = new Map(
      code &&
        findAll(code.program, "ObjectProperty").map(({ node }) => [nameOf(node.key), node.value]),
    );
    if (!values.has("schema")) continue;
    return { file, schema: textOf(values.get("schema")), dialect: textOf(values.get("dialect")) };
  }
  return undefined;
}

function textOf(node: Node | undefined): string | undefined {
  const value = node && bare(node);
  if (value?.type === "StringLiteral") return value.value;
  if (value?.type === "TemplateLiteral" && value.expressions.length === 0) {
    return value.quasis[0]!.value.cooked ?? undefined;
  }
  if (value?.type === "ArrayExpression" && value.elements.length === 1) {
    return textOf(value.elements[0] ?? undefined);
  }
  return undefined;
}

/** The files of a schema. An `index` that only exports from other files has its tables beside it. */
export async function filesOfSchema(root: string, schema: DrizzleSchema): Promise<string[]> {
  if (schema.kind === "folder") return listFiles(root, schema.folder, SOURCE);
  const folder = /^(.+)\/index\.[cm]?[jt]s$/.exec(schema.file)?.[1];
  if (schema.kind === "unknown" || folder === undefined) return [schema.file];
  const beside = await listFiles(root, folder, SOURCE);
  return [schema.file, ...beside.filter((file) => file !== schema.file)];
}
