/** Finds the database client: one that a file exports, or that an exported function returns. */
import type { Node } from "@babel/types";
import { Code } from "../code/code.js";
import { exportsOf } from "../code/exports.js";
import { importsOf } from "../code/imports.js";
import {
  bare,
  declaredIn,
  findAll,
  type FunctionNode,
  isFunction,
  nameOf,
} from "../code/syntax.js";
import { ClientsIn, type Maker, readsReplicas } from "./database-client.js";
import type { Member } from "./member.js";
import type { Project } from "./project.js";
import type { Storage } from "./storage.js";

export type Client =
  | { kind: "exported"; name: string; file: string; isDefault: boolean }
  /** A function without parameters returns the client. */
  | { kind: "opened"; factory: string; file: string }
  /** An application calls the function, and passes the client to the limits (`keepLimitsIn`). */
  | { kind: "made"; factory: string; type: string; file: string; isD1: boolean }
  | None;

/** No file exports a client for the limits. */
interface None {
  kind: "none";
  /** The file that makes a client, if one does. */
  hidden?: { file: string; name: string | undefined; why: string; lines: string };
}

const MAKERS: Record<string, Maker> = {
  prisma: { creates: ["PrismaClient"] },
  drizzle: { creates: ["drizzle"] },
  kysely: { creates: ["Kysely"], from: /^kysely$/ },
  pg: { creates: ["Pool"], from: /^pg$/ },
  mysql2: { creates: ["createPool"], from: /^mysql2(\/promise)?$/ },
  mariadb: { creates: ["createPool"], from: /^mariadb$/ },
  "better-sqlite3": { creates: [], from: /^better-sqlite3$/ },
  "@libsql/client": { creates: ["createClient"], from: /^@libsql\/client(\/\w+)?$/ },
  "node:sqlite": { creates: ["DatabaseSync"], from: /^node:sqlite$/ },
  postgres: { creates: ["postgres"], from: /^postgres$/ },
};
const OF_SEEDS = /(^|\/)seeds?\b/;

export function findClient(storage: Storage, members: readonly Member[], project: Project): Client {
  const maker = MAKERS[storage.kind === "plain" ? storage.client : storage.kind];
  if (maker === undefined) return { kind: "none" };
  const hint = maker.from ?? new RegExp(maker.creates.join("|"));
  const found = members.flatMap(({ sources }) =>
    [...sources].flatMap(([file, text]): Client[] => {
      const isHinted = maker.from !== undefined || hint.test(text);
      const code = isHinted && !OF_SEEDS.test(file) ? Code.read(file, text) : undefined;
      return code && imports(code, maker.from) ? clientsIn(code, maker) : [];
    }),
  );
  const isOrm = storage.kind === "prisma" || storage.kind === "drizzle";
  const isUsable = (each: Client) =>
    each.kind === "opened" || (each.kind === "made" && isCalled(project, each));
  return (
    found.find(({ kind }) => kind === "exported") ??
    (isOrm ? found.find(isUsable) : undefined) ??
    found.map(asHidden).toSorted((a, b) => rankOf(a) - rankOf(b))[0] ?? { kind: "none" }
  );
}

/** Whether a server with tRPC calls the function, so that the call can pass the client on. */
function isCalled(
  { users, trpcFile }: Project,
  { factory, file: own }: { factory: string; file: string },
): boolean {
  const call = new RegExp(String.raw`\b${factory}\s*\(`);
  const calls = ([file, text]: [string, string]) => file !== own && call.test(text);
  return trpcFile !== undefined && users.some(({ sources }) => [...sources].some(calls));
}

function asHidden(each: Client): None {
  if (each.kind === "none") return each;
  const { file } = each;
  const made = "factory" in each ? `${each.factory}(…)` : "…";
  const why = "the limits need a client that it exports";
  return {
    kind: "none",
    hidden: { file, name: undefined, why, lines: `export const db = ${made};` },
  };
}

const rankOf = ({ hidden }: None) => (hidden?.name === undefined ? 1 : 0);

function imports(code: Code, from: RegExp | undefined): boolean {
  if (from === undefined) return true;
  const required = findAll(code.program, "CallExpression").flatMap(({ node }) =>
    nameOf(node.callee) === "require" ? (nameOf(node.arguments[0]) ?? []) : [],
  );
  return [...importsOf(code).map(({ source }) => source.value), ...required].some((each) =>
    from.test(each),
  );
}

/** The exported clients of a file, then its exported functions that return one, then what it hides. */
function clientsIn(code: Code, maker: Maker): Client[] {
  const clients = new ClientsIn(code, maker);
  const { program, file } = code;
  const exported = exportsOf(code);
  const variables = program.body.flatMap((statement) => {
    const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    return inner?.type === "VariableDeclaration"
      ? inner.declarations.map((declared) => ({ declared, statement }))
      : [];
  });
  const found = variables.filter(({ declared }) => declared.init && clients.isVariable(declared));
  const shown = found.flatMap(({ declared }): Client[] => {
    const as = exported.get(nameOf(declared.id) ?? "");
    return as === undefined ? [] : [{ kind: "exported", file, ...as }];
  });
  const [unnamed] = program.body.flatMap((each) =>
    each.type === "ExportDefaultDeclaration" && clients.isClient(each.declaration) ? [each] : [],
  );
  if (unnamed && shown.length === 0) {
    const name = nameOf(unnamed.declaration) ?? "db";
    shown.push({ kind: "exported", name, file, isDefault: true });
  }
  const factories = declaredIn(program).flatMap(({ name, value }): Client[] => {
    const fn = value && bare(value);
    return isFunction(fn) && exported.get(name)?.isDefault === false && clients.returnsClient(fn)
      ? [factoryOf(code, name, fn)]
      : [];
  });
  const usable = [...shown, ...factories];
  if (usable.length > 0) return usable;
  const [hidden] = found;
  if (hidden === undefined && !clients.makes()) return [];
  return [{ kind: "none", hidden: hiddenIn(code, hidden) }];
}

function factoryOf(code: Code, factory: string, fn: FunctionNode): Client {
  const { file } = code;
  const isD1 = importsOf(code).some(({ source }) => source.value === "drizzle-orm/d1");
  if (!needsParameters(fn) && !fn.async && !isD1) return { kind: "opened", factory, file };
  const hasType = declaredIn(code.program).some(
    ({ name, isExported }) => name === "Database" && isExported,
  );
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

/** What the author of a file has to export, for example `export const db = drizzle(client);`. */
function hiddenIn(
  code: Code,
  found: { declared: Node & { type: "VariableDeclarator" }; statement: Node } | undefined,
): NonNullable<None["hidden"]> {
  const { file } = code;
  const hasReplicas = readsReplicas(code.program);
  if (found === undefined) {
    const which = hasReplicas ? "a client that writes to the primary" : "the client that it makes";
    const lines = "export const db = …;";
    return { file, name: undefined, why: `the limits need ${which}, exported`, lines };
  }
  const name = nameOf(found.declared.id);
  const text = code.textOf(found.statement);
  const lines = `export ${text.includes("\n") ? `const ${name} = …;` : text}`;
  return { file, name, why: "the limits need its client, exported", lines };
}

/** The expression that is the database client in the file of the limits. */
export function clientName(client: Client): string {
  if (client.kind === "exported") return client.name;
  if (client.kind === "opened") return `${client.factory}()`;
  return client.kind === "made" ? "database" : (client.hidden?.name ?? "db");
}
