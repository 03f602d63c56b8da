/** Finds the mutations of the application's router, and a component that calls one of them. */
import type { Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { bare, declaredIn, nameOf, rootOf } from "../code/syntax.js";
import { findInCode, type Member } from "./member.js";
import type { Project } from "./project.js";

export interface Mutation {
  /** Such as `todo.create`. */
  path: string;
  /** The file of the procedure. */
  file: string;
  /** The code that the procedure begins with: `protectedProcedure`, or `limited(5)`. */
  builder: string;
  /** The variable in `builder`. */
  root: string | undefined;
  hasInput: boolean;
  /** Whether the procedure is a variable, and no property of a router. */
  isAlone: boolean;
}

interface Component {
  member: Member;
  file: string;
}

export interface Example extends Mutation {
  /** The components that call the mutation. */
  components: readonly Component[];
}

const MAKES = /^(?:add|create|generate|invite|new|post|publish|send|submit|upload)(\w*)$/i;
const UNUSUAL = /admin|delete|internal|key|remove|revoke|token/i;

/** The mutation for examples: one that a component calls, and that makes something. */
export function findExample(project: Project): Example | undefined {
  const calls = [...new Set([project.api, ...project.users])].flatMap(callsOf);
  const called = new Set(calls.map(({ path }) => path));
  const rank = ({ path }: Mutation) => {
    const names = path.split(".");
    const makes = MAKES.exec(names.at(-1)!);
    return (
      (UNUSUAL.test(path) ? 100 : 0) +
      (called.has(path) ? 0 : 50) +
      (makes === null ? 20 : makes[1] === "" ? 0 : 10) +
      names.length
    );
  };
  const [best] = mutationsOf(project).toSorted((a, b) => rank(a) - rank(b));
  return best && { ...best, components: calls.filter(({ path }) => path === best.path) };
}

/** Matches `.todo.create.useMutation` of `api.todo.create.useMutation`. */
const CALL = /\.\s*((?:\w+\s*\.\s*)+)(?:useMutation|mutationOptions|mutate)\b/g;

/** The components of a package, with the mutations that they call. */
function callsOf(member: Member): (Component & { path: string })[] {
  return [...member.sources].flatMap(([file, text]) =>
    !/\.[jt]sx$/.test(file) || /\.stories\./.test(file)
      ? []
      : [...text.matchAll(CALL)].map(([, path]) => {
          return { member, file, path: path!.replace(/\s/g, "").slice(0, -1) };
        }),
  );
}

function mutationsOf({ api }: Project): Mutation[] {
  const root = findInCode(api, /\b[aA]ppRouter\b/, (code) =>
    declaredIn(code.program).find(({ name, isVariable }) => name === "appRouter" && isVariable),
  );
  return root?.found.value === undefined ? [] : mutationsIn(api, root.code, root.found.value, []);
}

/** How deep routers are in routers. */
const DEPTH = 6;

function mutationsIn(api: Member, code: Code, node: Node, path: readonly string[]): Mutation[] {
  const value = bare(node);
  if (path.length > DEPTH) return [];
  if (value.type === "Identifier") {
    const made = declaredAs(api, code, value.name);
    if (made === undefined) return [];
    const found = mutationsIn(api, made.code, made.value, path);
    return isMutation(bare(made.value)) ? found.map((one) => ({ ...one, isAlone: true })) : found;
  }
  if (value.type === "ObjectExpression") {
    return value.properties.flatMap((each) => {
      const name = each.type === "ObjectProperty" ? nameOf(each.key) : undefined;
      if (each.type !== "ObjectProperty" || name === undefined) return [];
      return mutationsIn(api, code, each.value, [...path, name]);
    });
  }
  if (value.type !== "CallExpression") return [];
  if (isMutation(value)) return [mutationOf(code, value, path)];
  // The call of a router, or of a function that merges routers.
  return value.arguments.flatMap((each) => mutationsIn(api, code, each, path));
}

const isMutation = (value: Node) =>
  value.type === "CallExpression" && nameOf(value.callee) === "mutation";

/** The value of a variable: of the same file, or of the first file that exports one of this name. */
function declaredAs(
  api: Member,
  code: Code,
  name: string,
): { code: Code; value: Node } | undefined {
  const valueIn = ({ program }: Code, isOwn = false) =>
    declaredIn(program).find(
      (each) => each.name === name && each.isVariable && (isOwn || each.isExported),
    )?.value;
  const own = valueIn(code, true);
  if (own !== undefined) return { code, value: own };
  const made = findInCode(api, new RegExp(String.raw`\bconst\s+${name}\b`), (each) =>
    valueIn(each),
  );
  return made && { code: made.code, value: made.found };
}

/** The calls between the builder of a procedure and its function. */
const CHAIN = new Set(["concat", "input", "meta", "mutation", "output", "unstable_concat", "use"]);

function mutationOf(code: Code, call: Node, path: readonly string[]): Mutation {
  const calls: string[] = [];
  let builder = call;
  while (builder.type === "CallExpression" && builder.callee.type === "MemberExpression") {
    const name = nameOf(builder.callee) ?? "";
    if (!CHAIN.has(name)) break;
    calls.push(name);
    builder = builder.callee.object;
  }
  const root = rootOf(builder);
  const text = code.textOf(builder);
  return {
    path: path.join("."),
    file: code.file,
    builder: text.includes("\n") ? (root ?? "t.procedure") : text,
    root,
    hasInput: calls.includes("input"),
    isAlone: false,
  };
}
