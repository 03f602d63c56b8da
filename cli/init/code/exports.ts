/** The exports of a file, also of CommonJS. */
import type { Code } from "./code.js";
import { declaredIn, findAll, nameOf } from "./syntax.js";

/** How other files import each name: under which name, or as the default. */
export function exportsOf({ program }: Code): Map<string, { name: string; isDefault: boolean }> {
  const found = new Map<string, { name: string; isDefault: boolean }>();
  const add = (local: string | undefined, name: string | undefined, isDefault = false) => {
    if (local !== undefined && name !== undefined && !(isDefault && found.has(local))) {
      found.set(local, { name, isDefault });
    }
  };
  for (const { name, isExported } of declaredIn(program)) if (isExported) add(name, name);
  for (const each of program.body) {
    if (each.type === "ExportNamedDeclaration" && !each.source) {
      for (const one of each.specifiers) {
        if (one.type !== "ExportSpecifier") continue;
        const name = nameOf(one.exported);
        if (name === "default") add(one.local.name, one.local.name, true);
        else add(one.local.name, name);
      }
    }
    const own = each.type === "ExportDefaultDeclaration" ? nameOf(each.declaration) : undefined;
    add(own, own, true);
  }
  // CommonJS: `exports.pool = pool`, `module.exports = { pool }` and `module.exports = pool`.
  for (const { node } of findAll(program, "AssignmentExpression")) {
    const { left, right } = node;
    if (left.type !== "MemberExpression") continue;
    if (nameOf(left.object) === "exports") add(nameOf(right), nameOf(left.property));
    if (nameOf(left.object) !== "module" || nameOf(left.property) !== "exports") continue;
    add(nameOf(right), nameOf(right), true);
    for (const one of right.type === "ObjectExpression" ? right.properties : []) {
      if (one.type === "ObjectProperty") add(nameOf(one.value), nameOf(one.key));
    }
  }
  return found;
}
