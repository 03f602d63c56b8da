/** Parses a file of TypeScript or JavaScript, and finds nodes in its syntax. */
import { parse } from "@babel/parser";
import type { Node, ObjectExpression, Program } from "@babel/types";

/** `undefined` for a text that is no code, or that declares a name twice. */
export function parseProgram(file: string, text: string): Program | undefined {
  const isTyped = /\.[cm]?tsx?$/.test(file);
  const isPlain = /\.[cm]?ts$/.test(file);
  try {
    return parse(text, {
      sourceType: "unambiguous",
      plugins: [
        ...(isTyped ? (["typescript"] as const) : []),
        // `<T>value` is a cast where there is no JSX.
        ...(isPlain ? [] : (["jsx"] as const)),
        "decorators",
      ],
      allowReturnOutsideFunction: true,
    }).program;
  } catch {
    return undefined;
  }
}

export type NodeOf<T extends Node["type"]> = Extract<Node, { type: T }>;

/** A node, with the nodes around it; the nearest node is the last. */
export interface Found<T extends Node = Node> {
  node: T;
  around: readonly Node[];
}

/** All nodes of a type at or below `root`, in the order of the text. */
export function findAll<T extends Node["type"]>(
  root: Node,
  ...types: readonly T[]
): Found<NodeOf<T>>[] {
  const found: Found<NodeOf<T>>[] = [];
  const wanted = new Set<string>(types);
  // An application has millions of nodes, so only what is found gets a list of its own.
  const around: Node[] = [];
  const visit = (node: Node) => {
    if (wanted.has(node.type)) found.push({ node: node as NodeOf<T>, around: [...around] });
    around.push(node);
    for (const key in node) {
      if (OTHER_KEYS.has(key)) continue;
      const value: unknown = node[key as keyof Node];
      if (isNode(value)) visit(value);
      else if (Array.isArray(value)) for (const each of value) if (isNode(each)) visit(each);
    }
    around.pop();
  };
  visit(root);
  return found.toSorted((a, b) => startOf(a.node) - startOf(b.node));
}

const OTHER_KEYS = new Set([
  "loc",
  "extra",
  "leadingComments",
  "trailingComments",
  "innerComments",
]);

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { type?: unknown }).type === "string"
  );
}

export const startOf = (node: Node): number => node.start!;
export const endOf = (node: Node): number => node.end!;

/** The name of an identifier, or of a property: the name of `a.b.c` is `c`. */
export function nameOf(node: Node | null | undefined): string | undefined {
  if (node?.type === "Identifier" || node?.type === "JSXIdentifier") return node.name;
  if (node?.type === "StringLiteral") return node.value;
  if (node?.type === "MemberExpression" || node?.type === "OptionalMemberExpression") {
    return nameOf(node.property);
  }
  if (node?.type === "JSXMemberExpression") return node.property.name;
  return undefined;
}

/** The first identifier of a chain: for `a.b().c`, `a`. */
export function rootOf(node: Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression" || node.type === "OptionalMemberExpression") {
    return rootOf(node.object);
  }
  if (
    node.type === "CallExpression" ||
    node.type === "NewExpression" ||
    node.type === "TSInstantiationExpression"
  ) {
    return rootOf("callee" in node ? node.callee : node.expression);
  }
  return undefined;
}

/** Calls of a function with one of these names, `new` ones included. */
export function callsOf(
  root: Node,
  ...names: readonly string[]
): Found<NodeOf<"CallExpression"> | NodeOf<"NewExpression">>[] {
  return findAll(root, "CallExpression", "NewExpression").filter(({ node }) =>
    names.includes(nameOf(node.callee) ?? ""),
  );
}

export type Property = NodeOf<"ObjectProperty"> | NodeOf<"ObjectMethod">;

export function propertyOf(object: ObjectExpression, name: string): Property | undefined {
  return object.properties.find(
    (each): each is Property => each.type !== "SpreadElement" && nameOf(each.key) === name,
  );
}

/** The value without `as const`, `satisfies T`, `!` and the like. */
export function bare(node: Node): Node {
  return node.type === "TSAsExpression" ||
    node.type === "TSSatisfiesExpression" ||
    node.type === "TSNonNullExpression" ||
    node.type === "ParenthesizedExpression"
    ? bare(node.expression)
    : node;
}

export type FunctionNode =
  | NodeOf<"FunctionDeclaration">
  | NodeOf<"FunctionExpression">
  | NodeOf<"ArrowFunctionExpression">
  | NodeOf<"ObjectMethod">;

export function isFunction(node: Node | null | undefined): node is FunctionNode {
  return (
    node?.type === "FunctionDeclaration" ||
    node?.type === "FunctionExpression" ||
    node?.type === "ArrowFunctionExpression" ||
    node?.type === "ObjectMethod"
  );
}

/** The function itself, or the function that is passed to a wrapper such as `cache(…)`. */
export function functionIn(value: Node): FunctionNode | undefined {
  const node = bare(value);
  if (isFunction(node)) return node;
  return node.type === "CallExpression" ? node.arguments.map(bare).find(isFunction) : undefined;
}

/** The values that a function returns: its body, or the values of its own `return` statements. */
export function returnsOf(fn: FunctionNode): Node[] {
  if (fn.body.type !== "BlockStatement") return [fn.body];
  return findAll(fn.body, "ReturnStatement").flatMap(({ node, around }) =>
    around.some(isFunction) || !node.argument ? [] : [node.argument],
  );
}

/** A declaration at the top level of a file. */
export interface Declared {
  name: string;
  /** The value of a variable, the function, the class or the type. */
  value: Node | undefined;
  /** The whole statement, `export` included. */
  statement: Node;
  isExported: boolean;
  /** A variable that is declared by `const`, `let` or `var`. */
  isVariable: boolean;
}

export function declaredIn(program: Program): Declared[] {
  const listed = new Set(
    program.body.flatMap((each) =>
      each.type === "ExportNamedDeclaration" && !each.source
        ? each.specifiers.flatMap((one) =>
            one.type === "ExportSpecifier" && nameOf(one.exported) === one.local.name
              ? [one.local.name]
              : [],
          )
        : [],
    ),
  );
  return program.body.flatMap((statement): Declared[] => {
    const isExport = statement.type === "ExportNamedDeclaration";
    const inner = isExport ? statement.declaration : statement;
    const entry = (name: string, value: Node | null | undefined, isVariable = false): Declared => ({
      name,
      value: value ?? undefined,
      statement,
      isExported: isExport || listed.has(name),
      isVariable,
    });
    if (inner?.type === "VariableDeclaration") {
      return inner.declarations.flatMap(({ id, init }) =>
        id.type === "Identifier" ? [entry(id.name, init, true)] : [],
      );
    }
    if (
      inner?.type === "FunctionDeclaration" ||
      inner?.type === "TSTypeAliasDeclaration" ||
      inner?.type === "TSInterfaceDeclaration"
    ) {
      return inner.id ? [entry(inner.id.name, inner)] : [];
    }
    return [];
  });
}
