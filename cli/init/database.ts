/** Finds the database client of a package: a client that is exported, or made by a function. */
import type { Node } from "@babel/types";
import type { Code } from "./code/code.js";
import { importsOf } from "./code/imports.js";
import {
  bare,
  type Declared,
  declaredIn,
  findAll,
  type FunctionNode,
  isFunction,
  nameOf,
} from "./code/syntax.js";
import type { Member } from "./member.js";
import type { Storage } from "./storage.js";

export type Database =
  | { kind: "exported"; name: string; file: string; isDefault: boolean }
  /** A function without parameters returns the client. */
  | { kind: "opened"; factory: string; file: string }
  /** An application calls the function, and passes the client to the limits (`keepLimitsIn`). */
  | { kind: "made"; factory: string; type: string; file: string; isD1: boolean }
  | { kind: "none" };

interface Pattern {
  /** The functions and classes that make a client. */
  creates: readonly string[];
  /** The package from which the names must be imported, if only that package will do. */
  from?: RegExp;
}

const PATTERNS: Record<string, Pattern> = {
  prisma: { creates: ["PrismaClient"] },
  drizzle: { creates: ["drizzle", "drizzlePg"] },
  kysely: { creates: ["Kysely"], from: /^kysely$/ },
  pg: { creates: ["Pool"], from: /^pg$/ },
  mysql2: { creates: ["createPool"], from: /^mysql2(\/promise)?$/ },
  mariadb: { creates: ["createPool"], from: /^mariadb$/ },
  "better-sqlite3": { creates: [], from: /^better-sqlite3$/ },
  "@libsql/client": { creates: ["createClient"], from: /^@libsql\/client(\/\w+)?$/ },
  "node:sqlite": { creates: ["DatabaseSync"], from: /^node:sqlite$/ },
  postgres: { creates: ["postgres"], from: /^postgres$/ },
};
/**
 * The usual names of an ORM's client. A name finds a client that a function makes, and that is kept over
 * a reload.
 */
const NAMES = ["db", "prisma", "prismaClient", "database", "client"];
const OF_TESTS = /(^|\/)seed\b/;

export async function findDatabase(
  { sources }: Member,
  storage: Storage,
  read: (file: string) => Promise<Code | undefined>,
): Promise<Database> {
  const kind = storage.kind === "plain" ? storage.client : storage.kind;
  const pattern = PATTERNS[kind];
  if (pattern === undefined) return { kind: "none" };
  const isOrm = kind === "prisma" || kind === "drizzle";
  let factory: Database | undefined;
  for (const file of sources.keys()) {
    const code = OF_TESTS.test(file) ? undefined : await read(file);
    if (code === undefined || !imports(code, pattern.from)) continue;
    const made = callsThatMake(code, pattern);
    if (made.length === 0) continue;
    const client = exportedIn(code, made, isOrm);
    if (client !== undefined) return { kind: "exported", file, ...client };
    if (isOrm) factory ??= factoryIn(code, made);
  }
  return factory ?? { kind: "none" };
}

function imports(code: Code, from: RegExp | undefined): boolean {
  if (from === undefined) return true;
  return (
    importsOf(code).some(({ source }) => from.test(source.value)) ||
    requiresOf(code).some((name) => from.test(name))
  );
}

function requiresOf({ program }: Code): string[] {
  return findAll(program, "CallExpression").flatMap(({ node }) => {
    const [first] = node.arguments;
    return nameOf(node.callee) === "require" && first?.type === "StringLiteral"
      ? [first.value]
      : [];
  });
}

/**
 * The calls that make a client. For a package that exports only its class, such as better-sqlite3, each
 * `new` counts.
 */
function callsThatMake({ program }: Code, { creates, from }: Pattern): Node[] {
  return findAll(program, "CallExpression", "NewExpression")
    .filter(({ node }) => {
      const name = nameOf(node.callee);
      if (creates.length > 0) return creates.includes(name ?? "");
      return from !== undefined && node.type === "NewExpression" && name !== undefined;
    })
    .map(({ node }) => node);
}

function exportedIn(
  code: Code,
  made: readonly Node[],
  isOrm: boolean,
): { name: string; isDefault: boolean } | undefined {
  const declared = declaredIn(code.program).filter(({ isVariable }) => isVariable);
  const isClient = ({ value }: Declared) => {
    const node = value && bare(value);
    const direct = node?.type === "AwaitExpression" ? bare(node.argument) : node;
    return direct !== undefined && made.includes(direct);
  };
  const candidates = [
    ...declared.filter(isClient),
    // The usual names alone count only with an ORM: without an ORM, such a name may be something else.
    ...(isOrm ? NAMES.flatMap((name) => declared.filter((each) => each.name === name)) : []),
  ].filter(({ value }) => value === undefined || !isFunction(bare(value)));
  const exported = candidates.find(
    (each) => each.isExported || exportsByRequire(code, each.name) === "named",
  );
  if (exported !== undefined) return { name: exported.name, isDefault: false };
  const byDefault = candidates.find(
    ({ name }) => isDefault(code, name) || exportsByRequire(code, name) === "default",
  );
  return byDefault && { name: byDefault.name, isDefault: true };
}

function isDefault({ program }: Code, name: string): boolean {
  return program.body.some(
    (each) => each.type === "ExportDefaultDeclaration" && nameOf(each.declaration) === name,
  );
}

/** Knows `module.exports = { pool }`, `exports.pool = pool`, and `module.exports = pool`. */
function exportsByRequire({ program }: Code, name: string): "named" | "default" | undefined {
  for (const { node } of findAll(program, "AssignmentExpression")) {
    const target = node.left.type === "MemberExpression" ? node.left : undefined;
    if (target === undefined) continue;
    const isModule = nameOf(target.object) === "module" && nameOf(target.property) === "exports";
    if (isModule && nameOf(node.right) === name) return "default";
    if (isModule && node.right.type === "ObjectExpression") {
      const isListed = node.right.properties.some(
        (each) => each.type === "ObjectProperty" && each.shorthand && nameOf(each.key) === name,
      );
      if (isListed) return "named";
    }
    const isNamed = nameOf(target.object) === "exports" && nameOf(target.property) === name;
    if (isNamed && nameOf(node.right) === name) return "named";
  }
  return undefined;
}

/** Finds the exported function in which the client is made. */
function factoryIn(code: Code, made: readonly Node[]): Database | undefined {
  const declared = declaredIn(code.program);
  const factories = declared.flatMap(({ name, value, isExported }) => {
    const fn = value && bare(value);
    return isExported && isFunction(fn) ? [{ name, fn }] : [];
  });
  const holds = (fn: Node) => made.some((node) => node.start! >= fn.start! && node.end! <= fn.end!);
  const found = factories.find(({ fn }) => holds(fn)) ?? factories.at(-1);
  if (found === undefined) return undefined;
  const { name: factory, fn } = found;
  const { file } = code;
  const isD1 = importsOf(code).some(({ source }) => source.value === "drizzle-orm/d1");
  if (!needsParameters(fn) && !fn.async && !isD1) return { kind: "opened", factory, file };
  const hasType = declared.some(({ name, isExported }) => name === "Database" && isExported);
  const inferred = `ReturnType<typeof ${factory}>`;
  const type = hasType ? "Database" : fn.async ? `Awaited<${inferred}>` : inferred;
  return { kind: "made", factory, type, file, isD1 };
}

function needsParameters({ params }: FunctionNode): boolean {
  return params.some(
    (each) =>
      each.type !== "AssignmentPattern" &&
      each.type !== "RestElement" &&
      !("optional" in each && each.optional),
  );
}
