/** The members of an interface or class: their tables, or links to their pages. */
import { ReflectionKind } from "typedoc";
import { partsText, sentences } from "./comments.js";
import { grouped } from "./functions.js";
import { MEMBERS_ON_PAGES_OF, OPTION_GROUPS, REST_OF } from "./layout/options.js";
import { callType, parametersOf, typeOf } from "./signatures.js";
import { signaturesOf } from "./sources.js";
import { table, typesTable } from "./tables.js";

/** A table for each group that the layout names, and a table of the other members. */
export function membersText(reference, declaration) {
  const { name, children = [] } = declaration;
  if (name in MEMBERS_ON_PAGES_OF) return [placesOfMembers(reference, declaration)];
  const other = reference.exported.get(REST_OF[name]);
  const shown = children.filter(
    (one) => !one.kindOf(ReflectionKind.Constructor) && !(other && one.inheritedFrom),
  );
  const groups = Object.entries(OPTION_GROUPS[name] ?? {});
  const named = new Set(groups.flatMap(([, names]) => names));
  const rest = shown.filter((one) => !named.has(one.name));
  const head = /Options|Config$|Props$/.test(name) ? "Option" : "Member";
  const rowOf = (member) => propertyRow(reference, member);
  const tableOf = (members) => typesTable(reference, head, members.map(rowOf));
  return [
    ...groups.flatMap(([title, names]) => [
      `### ${title}`,
      tableOf(names.flatMap((own) => shown.find((one) => one.name === own) ?? [])),
    ]),
    groups.length > 0 && rest.length > 0 && "### Others",
    tableOf(rest),
    other && `The other options are those of ${reference.linkName(other.name)}.`,
  ];
}

/** The pages that have the members of an interface. */
function placesOfMembers(reference, { name, children }) {
  const owner = MEMBERS_ON_PAGES_OF[name];
  const owners = reference.pages.filter(({ of }) => of === owner);
  const linkOf = (member) => reference.link(`\`${member.name}\``, member);
  if (name === owner) {
    const lines = owners.map((page) => [
      reference.linkPage(page),
      page.members.map(linkOf).join(", "),
    ]);
    return table(["To", "Methods"], lines);
  }
  const placed = owners.flatMap(({ members }) => members);
  const names = new Set(children.map((member) => member.name));
  const links = placed.filter((member) => names.has(member.name)).map(linkOf);
  return `It has ${links.slice(0, -1).join(", ")} and ${links.at(-1)}.`;
}

function propertyRow(reference, member) {
  const signatures = signaturesOf(member);
  const groups = grouped(signatures);
  const comments = member.comment ? [member.comment] : groups.map(([{ comment }]) => comment);
  const about = comments.map((comment) => sentences(reference, comment)).filter(Boolean);
  const notes = groups.flatMap((same) => parameterNotes(reference, same));
  const isMethod = member.kindOf(ReflectionKind.Method);
  return {
    name: member.flags.isOptional ? `${member.name}?` : member.name,
    type: isMethod ? callType(reference, signatures.at(-1)) : typeOf(reference, member),
    about: [about.join(" "), ...notes].filter(Boolean).join("<br>"),
  };
}

function parameterNotes(reference, signatures) {
  const notes = new Map();
  for (const signature of signatures) {
    for (const { name, comment } of parametersOf(reference, signature)) {
      const about = sentences(reference, comment);
      if (about !== "") notes.set(name, `\`${name}\`: ${about}`);
    }
    const returns = signature.comment?.getTag("@returns");
    if (returns) notes.set("returns", `Returns ${partsText(reference, returns.content)}`);
  }
  return [...notes.values()];
}
