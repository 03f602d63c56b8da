/**
 * The declarations that an entry point exports, and the declarations that these name, as one text:
 * without comments, sorted by name. Declarations that the package does not show its users are left out.
 */
import { format } from "prettier";
import { type Declaration, readDeclarations, type Reference } from "./declarations.js";

export interface EntryPoint {
  /** As users import it. */
  path: string;
  /** The file of its declarations. */
  file: string;
}

/**
 * The text of each entry point, by its path. A declaration that several of them export is in the
 * text of the first one. The others say where it is from.
 */
export async function publicApi(entryPoints: readonly EntryPoint[]): Promise<Map<string, string>> {
  const declarations = readDeclarations();
  const owners = new Map<string, string>();
  for (const { path, file } of entryPoints) {
    for (const target of declarations.exportsOf(file).values()) {
      if (!owners.has(idOf(target))) owners.set(idOf(target), path);
    }
  }

  function textOf({ path, file }: EntryPoint): string {
    const exported = declarations.exportsOf(file);
    const exportedIds = new Set([...exported.values()].map(idOf));
    const own: Declaration[] = [];
    const imports: string[] = [];
    const exports: string[] = [];
    const seen = new Set<string>();
    const add = (target: Reference) => {
      if (seen.has(idOf(target))) return;
      seen.add(idOf(target));
      const from = target.isExternal ? target.file : owners.get(idOf(target));
      if (from !== undefined && from !== path) {
        const clause = `{ ${target.name} } from ${JSON.stringify(from)};`;
        if (exportedIds.has(idOf(target))) exports.push(`export ${clause}`);
        else imports.push(`import type ${clause}`);
        return;
      }
      for (const declaration of declarations.of(target)) {
        own.push(declaration);
        declaration.names.forEach(add);
      }
    };
    for (const [name, target] of exported) {
      add(target);
      if (name !== target.name) exports.push(`export { ${target.name} as ${name} };`);
    }
    const isExported = (declaration: Declaration) => exportedIds.has(idOf(declaration));
    const texts = (some: Declaration[], keyword: string) =>
      some.sort(byName).map(({ text }) => keyword + text);
    const others = own.filter((declaration) => !isExported(declaration));
    return [
      [...imports.sort(), ...exports.sort()].join("\n"),
      ...texts(own.filter(isExported), "export "),
      ...texts(others, ""),
    ].join("\n\n");
  }

  const texts = entryPoints.map(async (entryPoint): Promise<[string, string]> => {
    const text = await format(textOf(entryPoint), { parser: "typescript", printWidth: 100 });
    return [entryPoint.path, text];
  });
  return new Map(await Promise.all(texts));
}

function idOf({ file, name }: Reference): string {
  return `${file}\0${name}`;
}

function byName(a: Reference, b: Reference): number {
  // Overloads stay in their order.
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}
