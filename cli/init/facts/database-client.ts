/** Finds the database client in a file: what makes it, or what its type says. A name alone says nothing. */
import type { Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { importsOf } from "../code/imports.js";
import {
  declaredIn,
  endOf,
  findAll,
  type FunctionNode,
  isFunction,
  nameOf,
  returnsOf,
  rootOf,
  startOf,
} from "../code/syntax.js";

/** The functions and classes that make a client, and the package from which a file must import them. */
export interface Maker {
  creates: readonly string[];
  from?: RegExp;
}

/** The deepest chain of functions and variables that is followed. */
const DEPTH = 6;

/** Whether a value is wrapped with read replicas, to which the statements of a limiter would go. */
export function readsReplicas(value: Node): boolean {
  return findAll(value, "CallExpression").some(({ node }) =>
    /replicas$/i.test(nameOf(node.callee) ?? ""),
  );
}

export class ClientsIn {
  readonly #code: Code;
  readonly #maker: Maker;
  readonly #creates: ReadonlySet<string>;

  constructor(code: Code, maker: Maker) {
    this.#code = code;
    this.#maker = maker;
    // `import { drizzle as drizzlePg }`
    const renamed = importsOf(code).flatMap(({ specifiers }) =>
      specifiers.flatMap((each) =>
        each.type === "ImportSpecifier" && maker.creates.includes(nameOf(each.imported) ?? "")
          ? [each.local.name]
          : [],
      ),
    );
    this.#creates = new Set([...maker.creates, ...renamed]);
  }

  /** The calls that make a client, in the whole file. */
  makes(): boolean {
    return findAll(this.#code.program, "CallExpression", "NewExpression").some(({ node }) =>
      this.#isMade(node),
    );
  }

  /** Whether a value is a client by what makes it, or by its type. */
  isClient(value: Node | null | undefined, depth = DEPTH): boolean {
    if (!value || depth === 0) return false;
    const is = (node: Node | null | undefined) => this.isClient(node, depth - 1);
    switch (value.type) {
      case "TSAsExpression":
      case "TSSatisfiesExpression":
        return this.#isType(value.typeAnnotation, depth) || is(value.expression);
      case "TSNonNullExpression":
      case "ParenthesizedExpression":
        return is(value.expression);
      case "AwaitExpression":
        return is(value.argument);
      case "AssignmentExpression":
        return is(value.right);
      case "LogicalExpression":
        // `globalThis.prisma ?? new PrismaClient()`
        return value.operator !== "&&" && is(value.right);
      case "ConditionalExpression":
        return is(value.consequent) && is(value.alternate);
      case "Identifier":
        return this.#isClientNamed(value, depth);
      case "NewExpression":
        return this.#isMade(value);
      case "CallExpression":
        return this.#isMade(value) || this.#isReturned(value, depth);
      default:
        return false;
    }
  }

  /** Whether a function returns a client, by the type that it names, or by each of its `return`. */
  returnsClient(fn: FunctionNode, depth = DEPTH): boolean {
    const type = "returnType" in fn ? fn.returnType : undefined;
    if (type?.type === "TSTypeAnnotation") return this.#isType(type.typeAnnotation, depth);
    const values = returnsOf(fn);
    return values.length > 0 && values.every((each) => this.isClient(each, depth - 1));
  }

  #isMade(node: Node): boolean {
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return false;
    const name = nameOf(node.callee);
    const { creates, from } = this.#maker;
    // A package such as better-sqlite3 exports only its class: each `new` counts.
    if (creates.length === 0) return from !== undefined && node.type === "NewExpression";
    const isClass = /^[A-Z]/.test(creates[0]!);
    return this.#creates.has(name ?? "") && (!isClass || node.type === "NewExpression");
  }

  /** Knows `make()`, `Singleton.getInstance()` and `client.$extends(…)`. */
  #isReturned({ callee, ...call }: Node & { type: "CallExpression" }, depth: number): boolean {
    if (callee.type === "Identifier") {
      const fn = this.#valueOf(callee.name);
      return isFunction(fn) && this.returnsClient(fn, depth - 1);
    }
    if (callee.type !== "MemberExpression") return false;
    if (nameOf(callee) === "$extends") {
      const isPrimary = !call.arguments.some(readsReplicas);
      return isPrimary && this.isClient(callee.object, depth - 1);
    }
    const owner = rootOf(callee);
    return findAll(this.#code.program, "ClassDeclaration").some(
      ({ node }) =>
        node.id?.name === owner &&
        node.body.body.some(
          (each) =>
            each.type === "ClassMethod" &&
            nameOf(each.key) === nameOf(callee) &&
            this.returnsClient(each as unknown as FunctionNode, depth - 1),
        ),
    );
  }

  #valueOf(name: string): Node | undefined {
    return declaredIn(this.#code.program).find((each) => each.name === name)?.value;
  }

  /** A variable: by its type, by its value, or by what is assigned to it later. */
  #isClientNamed(use: Node & { type: "Identifier" }, depth: number): boolean {
    const { program } = this.#code;
    // The nearest declaration that the use sees: a function may have a variable of the same name.
    const declared = findAll(program, "VariableDeclarator").findLast(({ node, around }) => {
      const scope = around.findLast((each) => isFunction(each));
      const isSeen = !scope || (startOf(scope) <= startOf(use) && endOf(use) <= endOf(scope));
      return isSeen && nameOf(node.id) === use.name;
    })?.node;
    if (declared === undefined) return false;
    if (this.isVariable(declared, depth)) return true;
    return findAll(program, "AssignmentExpression").some(
      ({ node }) => nameOf(node.left) === use.name && this.isClient(node.right, depth - 1),
    );
  }

  isVariable({ id, init }: Node & { type: "VariableDeclarator" }, depth = DEPTH): boolean {
    if (init && readsReplicas(init)) return false;
    const type = "typeAnnotation" in id ? id.typeAnnotation : undefined;
    if (type?.type === "TSTypeAnnotation" && this.#isType(type.typeAnnotation, depth)) return true;
    return this.isClient(init, depth - 1);
  }

  #isType(type: Node, depth: number): boolean {
    if (depth === 0) return false;
    if (type.type === "TSUnionType") return type.types.some((each) => this.#isType(each, depth));
    if (type.type !== "TSTypeReference") return false;
    const { typeName } = type;
    const name = typeName.type === "TSQualifiedName" ? typeName.right.name : nameOf(typeName);
    const [inner] = type.typeParameters?.params ?? [];
    if (inner && /^(Promise|Awaited|NonNullable)$/.test(name ?? "")) {
      return this.#isType(inner, depth - 1);
    }
    if (name === "ReturnType" && inner?.type === "TSTypeQuery") {
      const made = nameOf(inner.exprName) ?? "";
      const fn = this.#valueOf(made);
      return this.#creates.has(made) || (isFunction(fn) && this.returnsClient(fn, depth - 1));
    }
    return this.#isTypeNamed(name ?? "", depth);
  }

  #isTypeNamed(name: string, depth: number): boolean {
    const own = this.#valueOf(name);
    if (own?.type === "TSTypeAliasDeclaration") return this.#isType(own.typeAnnotation, depth - 1);
    if (this.#creates.has(name) && /^[A-Z]/.test(name)) return true;
    // `NodePgDatabase` and the like.
    return (
      this.#maker.creates.includes("drizzle") &&
      name.endsWith("Database") &&
      importsOf(this.#code).some(
        ({ source, specifiers }) =>
          source.value.startsWith("drizzle-orm/") &&
          specifiers.some((each) => each.local.name === name),
      )
    );
  }
}
