/**
 * What is public and has no sentence: exports, and the members of exported interfaces, classes and
 * object types. A docstring of tags alone counts as none. An overload may leave it to another one.
 *
 * What is public and has no example: functions, classes, and the methods, hooks and components that have
 * a page or a heading of their own.
 */
import { ReflectionKind } from "typedoc";
import { signaturesOf } from "./pages.js";

const MEMBERS = ReflectionKind.Property | ReflectionKind.Method | ReflectionKind.Accessor;

/** @returns one message per name. */
export function undocumented(project, pages) {
  const names = [];
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    // A name that another entry point exports as well is documented there.
    for (const declaration of module.children ?? []) {
      if (declaration.isReference()) continue;
      if (!isDocumented(declaration)) names.push(declaration.getFriendlyFullName());
      for (const member of membersOf(declaration)) {
        // Described by the package that declares it, such as the fields of JavaScript's `Error`.
        if (member.flags.isExternal || member.inheritedFrom !== undefined) continue;
        if (!isDocumented(member)) names.push(member.getFriendlyFullName());
      }
    }
  }
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
  const type = declaration.type?.type === "reflection" ? declaration.type.declaration : undefined;
  const places = [declaration, ...(declaration.signatures ?? []), ...(type?.signatures ?? [])];
  return places.some(({ comment }) => (comment?.summary ?? []).length > 0);
}
