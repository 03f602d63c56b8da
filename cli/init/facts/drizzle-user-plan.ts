/** Finds the columns of a Drizzle schema that may hold the plan of a user. */
import type { Node } from "@babel/types";
import type { Code } from "../code/code.js";
import {
  bare,
  callsOf,
  declaredIn,
  findAll,
  isFunction,
  nameOf,
  propertyOf,
  returnsOf,
} from "../code/syntax.js";
import { tablesIn } from "./drizzle-schema.js";
import { type IdKind, isPlanField, payerRank, type UserPlan } from "./user-plan.js";

export function findDrizzleUserPlans(codes: readonly Code[]): UserPlan[] {
  const declared = new Map(
    codes.flatMap(({ program }) => declaredIn(program).map(({ name, value }) => [name, value])),
  );
  return codes.flatMap((code) => plansIn(code, declared));
}

/** The values of the constants in all files of the schema, by name. */
type DeclaredValues = ReadonlyMap<string, Node | undefined>;

function plansIn(code: Code, declared: DeclaredValues): UserPlan[] {
  const tables = tablesIn(code).filter(({ constant }) => payerRank(constant) !== -1);
  return tables.flatMap(({ constant: model, columns: node }) => {
    const columns = columnsOf(node);
    const key = columns.find(([, column]) => callsOf(column, "primaryKey").length > 0);
    // A row with a key of several columns cannot be found by the key of a limit.
    if (key === undefined) return [];
    const id = { field: key[0], kind: kindOf(key[1]) };
    const found = columns.filter(([name]) => isPlanField(name));
    return found.map(([field, column]): UserPlan => {
      const values = valuesIn(column, declared);
      const [initial] = callsOf(column, "default")[0]?.node.arguments ?? [];
      const usual = initial?.type === "StringLiteral" ? initial.value : undefined;
      const isText = /^(text|varchar|char)$/.test(typeOf(column) ?? "");
      return { file: code.file, model, field, values, usual, isText, id };
    });
  });
}

/** The columns of `{ … }`, or of `(d) => ({ … })`. */
function columnsOf(node: Node): [name: string, column: Node][] {
  const [object] = isFunction(node) ? returnsOf(node).map(bare) : [node];
  if (object?.type !== "ObjectExpression") return [];
  return object.properties.flatMap((each): [string, Node][] => {
    const name = each.type === "ObjectProperty" ? nameOf(each.key) : undefined;
    return each.type === "ObjectProperty" && name !== undefined ? [[name, each.value]] : [];
  });
}

/** The name of the innermost call: `text` of `d.text().notNull()`. */
function typeOf(column: Node): string | undefined {
  if (column.type !== "CallExpression") return undefined;
  const { callee } = column;
  const inner = callee.type === "MemberExpression" ? typeOf(callee.object) : undefined;
  return inner ?? nameOf(callee);
}

function kindOf(column: Node): IdKind {
  const modes = findAll(column, "ObjectExpression").map(({ node }) => propertyOf(node, "mode"));
  const isBig = modes.some(
    (mode) => mode?.type === "ObjectProperty" && nameOf(mode.value) === "bigint",
  );
  if (isBig) return "bigint";
  return /int|serial/i.test(typeOf(column) ?? "") ? "number" : "text";
}

/**
 * The texts in the list of a column: its own list, or the list of its `pgEnum("plan", ["free", "pro"])`.
 */
function valuesIn(column: Node, declared: DeclaredValues): string[] | undefined {
  const [list] = findAll(column, "ArrayExpression");
  if (list !== undefined) {
    const texts = list.node.elements.flatMap((each) =>
      each?.type === "StringLiteral" ? [each.value] : [],
    );
    return texts.length > 0 ? texts : undefined;
  }
  for (const { node } of findAll(column, "Identifier")) {
    const value = declared.get(node.name);
    const named = value && bare(value);
    const isList =
      named?.type === "ArrayExpression" ||
      (named?.type === "CallExpression" && /Enum$|^enum$/.test(nameOf(named.callee) ?? ""));
    const values = named && named !== column && isList ? valuesIn(named, declared) : undefined;
    if (values !== undefined) return values;
  }
  return undefined;
}
