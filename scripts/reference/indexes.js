/** The indexes: of the entry points, and of the pages of each. */
import { commentOf, firstSentence } from "./comments.js";
import { DESCRIPTIONS } from "../entry-points.ts";
import { linkTo } from "./reference.js";
import { table } from "./tables.js";

const PACKAGE = "trpc-rate-limit";

export function rootIndex() {
  const rows = Object.entries(DESCRIPTIONS).map(([entry, { about }]) => [
    linkTo(`\`${titleOf(entry)}\``, `${entry}/README.md`),
    about,
  ]);
  return ["# Reference", table(["Entry point", "Has"], rows)];
}

/** The index of an entry point. */
export function entryIndex(reference, module) {
  const { about, sections } = DESCRIPTIONS[module.name];
  const own = reference.pages.filter(({ entry }) => entry === module.name);
  const tables = Object.keys(sections).flatMap((section) => {
    const rows = own
      .filter((page) => page.section === section)
      .map((page) => [reference.linkPage(page), aboutOf(reference, page)]);
    return [`## ${section}`, table(["Name", "About"], rows)];
  });
  const others = module.children
    .filter((child) => child.isReference())
    .map((child) => reference.link(`\`${child.name}\``, child.getTargetReflectionDeep()));
  const also = others.length === 0 ? [] : ["## Also exported", `${others.join(", ")}.`];
  return [`# ${titleOf(module.name)}`, `${about}.`, ...tables, ...also];
}

function aboutOf(reference, { lead, members, about }) {
  if (members.length > 1) return members.map(({ name }) => `\`${name}\``).join(", ");
  const one = lead ?? members[0];
  return one === undefined ? about : firstSentence(reference, commentOf(one));
}

function titleOf(entry) {
  return entry === PACKAGE ? entry : `${PACKAGE}/${entry}`;
}
