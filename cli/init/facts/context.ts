/** Finds the context of tRPC: the file that makes the context, and the fields of the context. */
import type { Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { importedFrom } from "../code/imports.js";
import {
  bare,
  declaredIn,
  type FunctionNode,
  functionIn,
  nameOf,
  returnsOf,
  rootOf,
  findAll,
} from "../code/syntax.js";
import { findInCode, type Member } from "./member.js";
import type { Project } from "./project.js";

export interface Context {
  /** `"none"`: tRPC has no context. `"inline"`: the type of the context stands in the file of tRPC. */
  kind: "type" | "function" | "inline" | "none" | "unknown";
  /** The file with the type, or with the function from which the type is inferred. */
  file: string | undefined;
  name: string;
  fields: Fields;
}

/** A field of the context: the texts of its type and of its value, each `""` where there is none. */
export interface Field {
  type: string;
  value: string;
}

export type Fields = ReadonlyMap<string, Field>;

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
    const fields = fieldsOfType(trpc, type);
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
    return { kind: "type", file, name, fields: fieldsOfType(code, value.body) };
  }
  if (value.type === "TSTypeAliasDeclaration") {
    const type = value.typeAnnotation;
    const fields = fieldsOfType(code, type);
    const inferred = fields.size === 0 ? functionOfType(type) : undefined;
    if (inferred !== undefined) return declaredContext(code, inferred);
    return fields.size === 0 ? undefined : { kind: "type", file, name, fields };
  }
  const fn = functionIn(value);
  return fn && { kind: "function", file, name, fields: fieldsOfFunction(code, fn) };
}

/** The name in `typeof createContext`, anywhere in a type. */
function functionOfType(type: Node): string | undefined {
  const [query] = findAll(type, "TSTypeQuery");
  return query && query.node.exprName.type !== "TSImportType"
    ? nameOf(query.node.exprName)
    : undefined;
}

/** Of a union, the fields of all its parts, because a caller may be any of them. */
function fieldsOfType(code: Code, type: Node): Map<string, Field> {
  if (type.type === "TSParenthesizedType") return fieldsOfType(code, type.typeAnnotation);
  if (type.type === "TSIntersectionType" || type.type === "TSUnionType") {
    return new Map(type.types.flatMap((each) => [...fieldsOfType(code, each)]));
  }
  const members =
    type.type === "TSTypeLiteral" ? type.members : type.type === "TSInterfaceBody" ? type.body : [];
  return new Map(
    members.flatMap((each): [string, Field][] => {
      const name = each.type === "TSPropertySignature" ? nameOf(each.key) : undefined;
      const text = each.type === "TSPropertySignature" ? each.typeAnnotation : undefined;
      return name === undefined ? [] : [[name, { type: text ? code.textOf(text) : "", value: "" }]];
    }),
  );
}

/** The fields of what a function that makes the context returns. */
export function fieldsOfFunction(code: Code, fn: FunctionNode): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const each of returnsOf(fn)) {
    const value = bare(each);
    if (value.type === "CallExpression") {
      // `return createInner({ … })`
      const inner = declaredContext(code, nameOf(value.callee) ?? "");
      for (const [name, field] of inner?.fields ?? []) fields.set(name, field);
    }
    if (value.type !== "ObjectExpression") continue;
    for (const property of value.properties) {
      if (property.type === "SpreadElement") {
        const spread = parameterFields(code, fn, nameOf(property.argument));
        for (const [name, field] of spread) fields.set(name, field);
      } else {
        const name = nameOf(property.key);
        const made = property.type === "ObjectProperty" ? property.value : undefined;
        if (name !== undefined) fields.set(name, { type: "", value: valueIn(code, fn, made) });
      }
    }
  }
  return fields;
}

/** The text of a value. For a variable of the function, the text from which the variable is made. */
function valueIn(code: Code, fn: FunctionNode, value: Node | undefined): string {
  if (value?.type !== "Identifier") return value ? code.textOf(value) : "";
  const made = findAll(fn, "VariableDeclarator").find(({ node }) => nameOf(node.id) === value.name);
  return made?.node.init ? code.textOf(made.node.init) : value.name;
}

/** The fields of a parameter, by its type. */
function parameterFields(code: Code, fn: FunctionNode, name: string | undefined): Fields {
  const parameter = fn.params.find((each) => each.type === "Identifier" && each.name === name) as
    { typeAnnotation?: { typeAnnotation?: Node } } | undefined;
  const type = parameter?.typeAnnotation?.typeAnnotation;
  if (type === undefined) return new Map();
  const named = type.type === "TSTypeReference" ? nameOf(type.typeName) : undefined;
  const declared = named === undefined ? undefined : declaredContext(code, named);
  return declared?.fields ?? fieldsOfType(code, type);
}
