/** Which page has which declaration: first what layout.js says, then what a page needs. */
import { ReflectionKind } from "typedoc";
import { LAYOUT, SHARE_MEMBERS } from "./layout.js";

/** Interfaces whose members are on pages of their own. */
const hasPages = new Set([
  ...Object.keys(SHARE_MEMBERS),
  ...Object.values(LAYOUT)
    .flatMap(Object.values)
    .flat()
    .flatMap(({ of, members }) => (members === undefined ? [] : of)),
]);

const CODE = ReflectionKind.Function | ReflectionKind.Class;

/**
 * @returns `pages`: each with its `entry`, `section`, `title`, `file`, `main` (the function or class), `members`
 * (methods and what a function returns) and `types`. `problems`: what has no page, or has no place.
 */
export function pagesOf(modules, sources) {
  const problems = [];
  const exported = new Map();
  for (const module of modules) {
    for (const child of module.children ?? []) {
      if (!child.isReference()) exported.set(child.name, child);
    }
  }
  const entryOf = (declaration) => declaration.parent.name;

  const pages = Object.entries(LAYOUT).flatMap(([entry, sections]) =>
    Object.entries(sections).flatMap(([section, list]) =>
      list.map((item) => {
        const {
          name,
          title = name,
          about,
          of,
          members = [],
          types,
        } = typeof item === "string" ? { name: item } : item;
        const found = (known) => {
          if (exported.has(known)) return exported.get(known);
          problems.push(`layout.js names ${known}, which no entry point exports`);
          return undefined;
        };
        const main = name === undefined || of !== undefined ? undefined : found(name);
        const wanted = name === undefined ? members : of === undefined ? [] : [name];
        const ofOwner = wanted.flatMap((member) => {
          const child = membersOf(found(of)).find((one) => one.name === member);
          if (child === undefined) problems.push(`layout.js names ${of}.${member}: no such member`);
          return child ?? [];
        });
        const file = `${entry}/${slugOf(title)}.md`;
        const own = (types ?? []).map(found).filter(Boolean);
        return { entry, section, title, about, file, main, of, members: ofOwner, types: own };
      }),
    ),
  );

  const placed = new Map();
  for (const page of pages) {
    for (const one of [page.main, ...page.types]) if (one !== undefined) placed.set(one, page);
  }
  const fixed = new Set(placed.keys());
  for (const page of pages) {
    const open = [page.main, ...page.members, ...page.types].filter(Boolean);
    const seen = new Set(open);
    for (const one of open) {
      for (const name of namesNeededBy(one, sources)) {
        const type = exported.get(name);
        if (type === undefined || seen.has(type) || fixed.has(type)) continue;
        seen.add(type);
        open.push(type);
        if (type.kindOf(CODE) || placed.has(type) || entryOf(type) !== page.entry) continue;
        page.types.push(type);
        placed.set(type, page);
      }
    }
  }
  for (const type of exported.values()) {
    if (placed.has(type)) continue;
    const name = type.getFriendlyFullName();
    problems.push(`${name} is on no page: add it to scripts/reference/layout.js`);
  }

  const files = pages.map(({ file }) => file.toLowerCase());
  for (const { file } of pages) {
    if (files.filter((one) => one === file.toLowerCase()).length > 1) {
      problems.push(`two pages have the file ${file}, or names that differ in case alone`);
    }
  }
  return { pages, problems };
}

/** The members of an interface, or of the object that a function returns. */
export function membersOf(declaration) {
  const returned = declaration?.signatures?.[0]?.type;
  const object = returned?.type === "reflection" ? returned.declaration : declaration;
  return object?.children ?? [];
}

/** Names of types in a declaration, its signatures and its members. */
function namesNeededBy(declaration, sources) {
  const names = new Set();
  if (hasPages.has(declaration.name)) return names;
  const add = (one) => {
    for (const name of sources.namesIn(one)) names.add(name);
  };
  // The declaration of a function or method is one of its overloads.
  if (!declaration.kindOf(ReflectionKind.FunctionOrMethod)) add(declaration);
  for (const signature of signaturesOf(declaration)) add(signature);
  for (const child of declaration.children ?? []) {
    if (child.flags.isExternal) continue;
    add(child);
    for (const signature of signaturesOf(child)) add(signature);
  }
  return names;
}

/** Those of a function or method, also of one that is the value of a property. */
export function signaturesOf(declaration) {
  const type = declaration.type?.type === "reflection" ? declaration.type.declaration : undefined;
  return declaration.signatures ?? type?.signatures ?? [];
}

export function slugOf(title) {
  return /\s|^[A-Z][a-z]+$/.test(title) ? title.toLowerCase().replace(/[^\w]+/g, "-") : title;
}
