/** Finds the context of tRPC: the file that makes the context, and the fields of the context. */
import type { Node, TSTypeElement } from "@babel/types";
import type { Code } from "./code/code.js";
import { importedFrom } from "./code/imports.js";
import {
  bare,
  declaredIn,
  type FunctionNode,
  isFunction,
  nameOf,
  returnsOf,
  rootOf,
  findAll,
} from "./code/syntax.js";
import { findInCode, type Member } from "./member.js";
import type { Project } from "./project.js";

export interface Context {
  /** `"none"`: tRPC has no context. `"inline"`: the type of the context stands in the file of tRPC. */
  kind: "type" | "function" | "inline" | "none" | "unknown";
  /** The file with the type, or with the function from which the type is inferred. */
  file: string | undefined;
  name: string;
  /** The fields of the context, each with the text of its type, if it has a type. */
  fields: ReadonlyMap<string, string>;
}

const NONE: Context = { kind: "none", file: undefined, name: "createContext", fields: new Map() };

/** The call of `create` of a chain that begins with `initTRPC`. */
export function createCallOf({ program }: Code) {
  return findAll(program, "CallExpression").find(
    ({ node }) => nameOf(node.callee) === "create" && rootOf(node.callee) === "initTRPC",
  );
}

export function contextOf({ api, members }: Project, trpc: Code): Context {
  const call = findAll(trpc.program, "CallExpression").find(
    ({ node }) => nameOf(node.callee) === "context" && rootOf(node.callee) === "initTRPC",
  );
  if (call === undefined) return NONE;
  const type = call.node.typeParameters?.params[0];
  if (type?.type === "TSTypeLiteral") {
    const fields = fieldsOfType(trpc, type.members);
    return { kind: "inline", file: trpc.file, name: "createContext", fields };
  }
  const inferred = type && functionOfType(type);
  const name = inferred ?? (type?.type === "TSTypeReference" ? nameOf(type.typeName) : undefined);
  if (name === undefined) return { ...NONE, kind: "unknown" };
  // Look first into the file that the import names: other files may have a type of the same name.
  const imported = importedFrom(trpc, name)
    ?.split("/")
    .at(-1)
    ?.replace(/\.\w+$/, "");
  const isImported = (file: string) => imported !== undefined && file.includes(`/${imported}.`);
  return (
    declaredContext(trpc, name) ??
    inMember(api, name, isImported) ??
    [api, ...members].flatMap((member) => inMember(member, name) ?? [])[0] ?? {
      ...NONE,
      kind: "unknown",
      name,
    }
  );
}

function inMember(
  member: Member,
  name: string,
  isWanted: (file: string) => boolean = () => true,
): Context | undefined {
  const hint = new RegExp(String.raw`\b(function|const|type|interface)\s+${name}\b`);
  return findInCode(member, hint, (code) =>
    isWanted(code.file) ? declaredContext(code, name) : undefined,
  )?.found;
}

function declaredContext(code: Code, name: string): Context | undefined {
  const value = declaredIn(code.program).find((each) => each.name === name)?.value;
  if (value === undefined) return undefined;
  const { file } = code;
  if (value.type === "TSInterfaceDeclaration") {
    return { kind: "type", file, name, fields: fieldsOfType(code, value.body.body) };
  }
  if (value.type === "TSTypeAliasDeclaration") {
    const type = value.typeAnnotation;
    if (type.type === "TSTypeLiteral") {
      return { kind: "type", file, name, fields: fieldsOfType(code, type.members) };
    }
    const inferred = functionOfType(type);
    return inferred === undefined ? undefined : declaredContext(code, inferred);
  }
  const fn = functionIn(value);
  return fn && { kind: "function", file, name, fields: fieldsOfFunction(code, fn) };
}

/** The function itself, or the function that is passed to a wrapper such as `cache(…)`. */
function functionIn(value: Node): FunctionNode | undefined {
  const node = bare(value);
  if (isFunction(node)) return node;
  return node.type === "CallExpression" ? node.arguments.map(bare).find(isFunction) : undefined;
}

/** The name in `typeof createContext`, anywhere in a type. */
function functionOfType(type: Node): string | undefined {
  const [query] = findAll(type, "TSTypeQuery");
  return query && query.node.exprName.type !== "TSImportType"
    ? nameOf(query.node.exprName)
    : undefined;
}

function fieldsOfType(code: Code, members: readonly TSTypeElement[]): Map<string, string> {
  return new Map(
    members.flatMap((each): [string, string][] => {
      const name = each.type === "TSPropertySignature" ? nameOf(each.key) : undefined;
      const type = each.type === "TSPropertySignature" ? each.typeAnnotation : undefined;
      return name === undefined ? [] : [[name, type ? code.textOf(type) : ""]];
    }),
  );
}

function fieldsOfFunction(code: Code, fn: FunctionNode): Map<string, string> {
  const fields = new Map<string, string>();
  for (const each of returnsOf(fn)) {
    const value = bare(each);
    if (value.type === "CallExpression") {
      // `return createInner({ … })`
      const inner = declaredContext(code, nameOf(value.callee) ?? "");
      for (const [name, type] of inner?.fields ?? []) fields.set(name, type);
    }
    if (value.type !== "ObjectExpression") continue;
    for (const property of value.properties) {
      if (property.type === "SpreadElement") {
        const spread = parameterFields(code, fn, nameOf(property.argument));
        for (const [name, type] of spread) fields.set(name, type);
      } else {
        const name = nameOf(property.key);
        if (name !== undefined) fields.set(name, "");
      }
    }
  }
  return fields;
}

/** The fields of a parameter, by its type. */
function parameterFields(
  code: Code,
  fn: FunctionNode,
  name: string | undefined,
): Map<string, string> {
  const parameter = fn.params.find((each) => each.type === "Identifier" && each.name === name) as
    { typeAnnotation?: { typeAnnotation?: Node } } | undefined;
  const type = parameter?.typeAnnotation?.typeAnnotation;
  if (type?.type === "TSTypeLiteral") return fieldsOfType(code, type.members);
  const named = type?.type === "TSTypeReference" ? nameOf(type.typeName) : undefined;
  const declared = named === undefined ? undefined : declaredContext(code, named);
  return new Map(declared?.fields);
}
