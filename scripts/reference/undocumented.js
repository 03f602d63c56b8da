/**
 * Finds public declarations without a sentence: exports, and the members of exported interfaces, classes
 * and object types. A docstring of tags alone does not count. One overload with a sentence is enough.
 *
 * Finds public declarations without an example: functions, classes, and the methods, hooks and components
 * that have a page or a heading of their own.
 */
import { ReflectionKind } from "typedoc";
import { signaturesOf } from "./sources.js";

const MEMBERS = ReflectionKind.Property | ReflectionKind.Method | ReflectionKind.Accessor;

/**
 * @param exported the declarations of all entry points, each once.
 * @returns one message per name.
 */
export function undocumented(exported, pages) {
  // An inherited member is documented where it is declared.
  const all = exported.flatMap((declaration) => [
    declaration,
    ...membersOf(declaration).filter(({ inheritedFrom }) => inheritedFrom === undefined),
  ]);
  const names = all.filter((one) => !isDocumented(one)).map((one) => one.getFriendlyFullName());
  const shown = pages.flatMap(({ main, members }) => (main === undefined ? members : [main]));
  const without = shown.filter((one) => isCode(one) && !hasExample(one));
  return [
    ...[...new Set(names)].map((name) => `${name} has no docstring`),
    ...without.map((one) => `${one.getFriendlyFullName()} has no @example in its docstring`),
  ];
}

function isCode(declaration) {
  return declaration.kindOf(ReflectionKind.Class) || signaturesOf(declaration).length > 0;
}

function hasExample(declaration) {
  return [declaration, ...signaturesOf(declaration)].some(({ comment }) =>
    comment?.getTag("@example"),
  );
}

function membersOf(declaration) {
  const objects = [declaration];
  declaration.type?.visit({ reflection: (type) => objects.push(type.declaration) });
  return objects.flatMap((object) =>
    (object.children ?? []).filter((child) => child.kindOf(MEMBERS)),
  );
}

function isDocumented(declaration) {
  return [declaration, ...signaturesOf(declaration)].some(
    ({ comment }) => (comment?.summary ?? []).length > 0,
  );
}
