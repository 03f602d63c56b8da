/**
 * Puts declarations on pages: first the declarations that the layout names, then the types that a page
 * needs.
 */
import { ReflectionKind } from "typedoc";
import { DESCRIPTIONS } from "../entry-points.ts";
import { MEMBERS_ON_PAGES_OF } from "./layout/options.js";
import { membersOf, signaturesOf } from "./sources.js";

const CODE = ReflectionKind.Function | ReflectionKind.Class;

/**
 * @param exported the declarations of the package, by name.
 * @returns `pages`: each with its `entry`, `section`, `title`, `about`, `file`, `main` (the function or
 * class), `members` (methods, and members of a function's result) and `types`. `problems`: declarations
 * without a page, and names of the layout that do not exist.
 */
export function pagesOf(exported, sources) {
  const problems = [];
  const pages = Object.entries(DESCRIPTIONS).flatMap(([entry, { sections }]) =>
    Object.entries(sections).flatMap(([section, list]) =>
      list.map((item) => ({ entry, section, ...pageOf(entry, item, exported, problems) })),
    ),
  );
  const placed = new Set(pages.flatMap(({ main, types }) => [main, ...types]));
  for (const page of pages) addNeededTypes(page, placed, exported, sources);
  for (const type of new Set(exported.values())) {
    if (placed.has(type)) continue;
    const name = type.getFriendlyFullName();
    problems.push(`${name} is on no page: add it to scripts/entry-points.ts`);
  }
  const files = new Set();
  for (const { file } of pages) {
    if (files.has(file.toLowerCase())) {
      problems.push(`two pages have the file ${file}, or names that differ in case alone`);
    }
    files.add(file.toLowerCase());
  }
  return { pages, problems };
}

/** A page of the layout, with the declarations that it names. */
function pageOf(entry, item, exported, problems) {
  const {
    main,
    title = main,
    about,
    of,
    members = [],
    types = [],
  } = typeof item === "string" ? { main: item } : item;
  const found = (list, all, where) =>
    list.flatMap((name) => {
      const one = all.find((child) => child.name === name);
      if (one === undefined)
        problems.push(`the layout names ${name}, which ${where} does not have`);
      return one ?? [];
    });
  const nearest = (name) => exported.get(`${entry}.${name}`) ?? exported.get(name);
  const named = (list) => list.flatMap((name) => nearest(name) ?? []);
  return {
    title,
    about,
    of,
    file: `${entry}/${slugOf(title)}.md`,
    main: found(main === undefined ? [] : [main], named([main]), entry)[0],
    members: found(members, membersOf(nearest(of)), of),
    types: found(types, named(types), entry),
  };
}

/**
 * Adds the types that a page needs and that no page has: types in its declarations, and types in these
 * types.
 */
function addNeededTypes(page, placed, exported, sources) {
  const open = new Set([page.main, ...page.members, ...page.types]);
  open.delete(undefined);
  const fixed = new Set(placed);
  for (const one of open) {
    for (const name of namesNeededBy(one, sources)) {
      const type = exported.get(`${page.entry}.${name}`) ?? exported.get(name);
      if (type === undefined || fixed.has(type)) continue;
      open.add(type);
      if (type.kindOf(CODE) || placed.has(type) || type.parent.name !== page.entry) continue;
      page.types.push(type);
      placed.add(type);
    }
  }
}

/** The names of types in a declaration, its signatures and its members. */
function namesNeededBy(declaration, sources) {
  if (declaration.name in MEMBERS_ON_PAGES_OF) return [];
  // The declaration of a function or method is one of its overloads.
  const own = declaration.kindOf(ReflectionKind.FunctionOrMethod) ? [] : [declaration];
  const children = declaration.children ?? [];
  const all = [...own, ...signaturesOf(declaration)].concat(
    children.flatMap((child) => [child, ...signaturesOf(child)]),
  );
  return new Set(all.flatMap((one) => [...sources.namesIn(one)]));
}

function slugOf(title) {
  return /\s|^[A-Z][a-z]+$/.test(title) ? title.toLowerCase().replace(/[^\w]+/g, "-") : title;
}
