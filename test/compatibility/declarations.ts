/** Reads the declarations of `.d.ts` files, and the names of other declarations in each. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "vite";

/** A name in a file of the package, or in another package. */
export interface Reference {
  file: string;
  name: string;
  /** Whether `file` is the name of another package. */
  isExternal?: boolean;
}

export interface Declaration extends Reference {
  /** Without comments, `export` and `declare`. */
  text: string;
  names: Reference[];
}

interface Module {
  /** By name. A function has one for each of its overloads. */
  declarations: Map<string, Declaration[]>;
  /** By the name under which this file exports them. */
  exports: Map<string, Reference>;
  /** Files whose exports are all exported. */
  starred: string[];
}

export function readDeclarations() {
  const modules = new Map<string, Module>();

  function load(file: string): Module {
    const found = modules.get(file) ?? parseModule(file);
    modules.set(file, found);
    return found;
  }

  /** The file that declares it, and not one that passes it on. */
  function origin(reference: Reference): Reference {
    const { file, name, isExternal } = reference;
    if (isExternal || load(file).declarations.has(name)) return reference;
    const target = exportsOf(file).get(name);
    if (target === undefined) throw new Error(`${file} exports no ${name}`);
    return target;
  }

  function exportsOf(file: string): Map<string, Reference> {
    const { exports, starred } = load(file);
    const own = [...exports].map(([name, target]) => [name, origin(target)] as const);
    return new Map([...starred.flatMap((other) => [...exportsOf(other)]), ...own]);
  }

  return {
    exportsOf,
    /** Its declarations, with the origins of what they name. */
    of: ({ file, name }: Reference): Declaration[] =>
      (load(file).declarations.get(name) ?? []).map((declaration) => ({
        ...declaration,
        names: declaration.names.map(origin),
      })),
  };
}

/** A node of the tree, as far as it matters here. */
interface Node {
  type: string;
  start: number;
  end: number;
  name?: string;
  value?: unknown;
  id?: Node;
  local?: Node;
  imported?: Node;
  exported?: Node | null;
  source?: Node | null;
  declaration?: Node | null;
  declarations?: Node[];
  specifiers?: Node[];
  typeName?: Node;
  exprName?: Node;
  expression?: Node;
  superClass?: Node | null;
  qualifier?: Node | null;
  left?: Node;
  key?: Node;
  computed?: boolean;
}

function parseModule(file: string): Module {
  const source = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const plain = comments.reduce((text, { start, end }) => {
    return text.slice(0, start) + " ".repeat(end - start) + text.slice(end);
  }, source);
  const locate = (specifier: unknown, name: string): Reference => {
    const from = String(specifier);
    return from.startsWith(".")
      ? { file: join(dirname(file), from).replace(/\.js$/, ".d.ts"), name }
      : { file: from, name, isExternal: true };
  };

  const imports = new Map<string, Reference>();
  const found: Module = { declarations: new Map(), exports: new Map(), starred: [] };
  const body = program.body as unknown as Node[];
  for (const node of body) {
    if (node.type === "ImportDeclaration") {
      for (const { local, imported } of node.specifiers ?? []) {
        imports.set(local!.name!, locate(node.source!.value, imported?.name ?? "*"));
      }
    }
    if (node.type === "ExportAllDeclaration") {
      found.starred.push(locate(node.source!.value, "*").file);
    }
  }
  for (const node of body) {
    for (const { local, exported } of node.declaration ? [] : (node.specifiers ?? [])) {
      if (node.type !== "ExportNamedDeclaration") continue;
      const name = local!.name!;
      const target = node.source ? locate(node.source.value, name) : imports.get(name);
      found.exports.set(exported!.name!, target ?? { file, name });
    }
    const declared = node.type.startsWith("Export") ? node.declaration : node;
    const name = declared?.id?.name ?? declared?.declarations?.[0]?.id?.name;
    if (!declared || name === undefined) continue;
    if (node !== declared) found.exports.set(name, { file, name });
    const text = plain
      .slice(declared.start, declared.end)
      .replace(/^declare /, "")
      // Where comments stood.
      .replaceAll(/^\s*\n/gm, "");
    const earlier = found.declarations.get(name) ?? [];
    // Filled in below, when all names of the file are known.
    found.declarations.set(name, [...earlier, { file, name, text, names: [] }]);
  }
  for (const node of body) {
    const declared = node.type.startsWith("Export") ? node.declaration : node;
    const name = declared?.id?.name ?? declared?.declarations?.[0]?.id?.name;
    if (!declared || name === undefined) continue;
    for (const named of namesIn(declared)) {
      const target =
        named.from === undefined
          ? (imports.get(named.name) ??
            (found.declarations.has(named.name) ? { file, name: named.name } : undefined))
          : locate(named.from, named.name);
      // What is left are type parameters and the types of the language.
      if (target) for (const each of found.declarations.get(name)!) each.names.push(target);
    }
  }
  return found;
}

/** What a declaration names, and from where if it says so by `import("…")`. */
function namesIn(node: Node): { name: string; from?: unknown }[] {
  const own: { name: string; from?: unknown }[] = [];
  const { typeName, exprName, expression, superClass, key, computed } = node;
  for (const named of [typeName, exprName, expression, superClass, computed ? key : undefined]) {
    const name = named ? leftmost(named).name : undefined;
    if (name !== undefined) own.push({ name });
  }
  if (node.type === "TSImportType") {
    own.push({ name: leftmost(node.qualifier!).name!, from: node.source!.value });
  }
  const children = Object.values(node as object).flat() as unknown[];
  const nodes = children.filter(
    (child): child is Node => typeof (child as Node | null)?.type === "string",
  );
  return [...own, ...nodes.flatMap(namesIn)];
}

/** `A` of `A.B.C`. */
function leftmost(node: Node): Node {
  return node.left ? leftmost(node.left) : node;
}
