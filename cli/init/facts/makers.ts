/** Finds every place that makes the context of tRPC. */
import type { Node } from "@babel/types";
import { Code } from "../code/code.js";
import {
  bare,
  declaredIn,
  findAll,
  functionIn,
  type FunctionNode,
  isFunction,
  nameOf,
  propertyOf,
} from "../code/syntax.js";
import { type Context, type Field, fieldsOfFunction } from "./context.js";
import { codesIn, type Member } from "./member.js";
import type { Project } from "./project.js";
import { handlerCodesOf, handlerIn } from "./server.js";

/** A function that makes the context. */
export interface Maker {
  member: Member;
  file: string;
  /** `undefined` for the function in the settings of a handler. */
  name: string | undefined;
}

/**
 * All makers of a context with a type of its own: the functions that handlers call or contain, the
 * functions that say that they return the type, and in each package the first with a usual name.
 */
export function makersOf(project: Project, context: Context): Maker[] {
  const handlers = handlerCodesOf(project);
  const named = new Set(handlers.flatMap(({ code }) => namesInSettings(code)));
  const inline = handlers.flatMap(({ member, code }): Maker[] =>
    inlineMaker(code) === undefined ? [] : [{ member, file: code.file, name: undefined }],
  );
  const members = [...new Set([project.api, ...project.users])];
  const declared = members.flatMap((member) => {
    const found = codesIn(member, MAKES).flatMap((code) =>
      declaredIn(code.program).flatMap(({ name, value }) => {
        const fn = value && functionIn(value);
        if (fn === undefined || (!USUAL.test(name) && !returns(code, fn, context))) return [];
        return [
          { member, file: code.file, name, isSure: named.has(name) || returns(code, fn, context) },
        ];
      }),
    );
    const sure = found.filter(({ isSure }) => isSure);
    const isInline = inline.some((each) => each.member === member);
    return sure.length > 0 || isInline ? sure : found.slice(0, 1);
  });
  return [...declared.map(({ member, file, name }) => ({ member, file, name })), ...inline];
}

/** The context with the values that its makers give to its fields: a value that all of them give. */
export function withValues(context: Context, makers: readonly Maker[]): Context {
  const made = makers.flatMap(({ member, file, name }) => {
    const code = Code.read(file, member.sources.get(file) ?? "");
    const fn = code && functionOf(code, name);
    return code && fn ? [fieldsOfFunction(code, fn)] : [];
  });
  const valueOf = (name: string) => {
    const values = made.map((fields) => fields.get(name)?.value ?? "");
    return values.every((value) => value !== "") ? values.join("\n") : "";
  };
  const fields = [...context.fields].map(([name, field]): [string, Field] => [
    name,
    { ...field, value: field.value || valueOf(name) },
  ]);
  return { ...context, fields: new Map(fields) };
}

/** @param name the name of a maker; without a name, the function in the settings of the handler. */
export function functionOf(code: Code, name: string | undefined): FunctionNode | undefined {
  if (name === undefined) return inlineMaker(code);
  const value = declaredIn(code.program).find((each) => each.name === name)?.value;
  return value && functionIn(value);
}

const USUAL = /^create\w*Context$/;
const MAKES = /\bcreate\w*Context\b|Context\b/;

/** The names in the `createContext` of a handler: that of a function, or of the function that it calls. */
function namesInSettings(code: Code): string[] {
  const settings = handlerIn(code);
  const property = settings && propertyOf(settings, "createContext");
  return property === undefined
    ? []
    : findAll(property, "Identifier").flatMap(({ node }) =>
        USUAL.test(node.name) ? node.name : [],
      );
}

/** Whether a function says that it returns the type of the context. */
function returns(code: Code, fn: FunctionNode, { kind, name }: Context): boolean {
  const type = fn.returnType && code.textOf(fn.returnType);
  return kind === "type" && type != undefined && new RegExp(String.raw`\b${name}\b`).test(type);
}

/** The function in the settings of a handler, unless it only calls another function. */
function inlineMaker(code: Code): FunctionNode | undefined {
  const settings = handlerIn(code);
  const property = settings && propertyOf(settings, "createContext");
  const fn: Node | undefined =
    property?.type === "ObjectProperty" ? bare(property.value) : property;
  if (!isFunction(fn)) return undefined;
  return callsMaker(fn) ? undefined : fn;
}

function callsMaker(fn: FunctionNode): boolean {
  return findAll(fn.body, "CallExpression").some(({ node }) =>
    USUAL.test(nameOf(node.callee) ?? ""),
  );
}
