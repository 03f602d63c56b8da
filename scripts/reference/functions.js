/** The text of a function: its overloads, parameters, result and errors. */
import { commentOf, exampleOf, firstSentence, partsText, plain, sentences } from "./comments.js";
import { parametersOf, returnType, signatureCode, typeOf, usualOf } from "./signatures.js";
import { membersOf } from "./sources.js";
import { table, typesTable } from "./tables.js";

export async function functionText(reference, name, signatures) {
  const parts = [];
  for (const same of grouped(signatures)) {
    // The last overload is the usual one: show it first.
    const shown = usualOf(reference, same).toReversed();
    const codes = await Promise.all(shown.map((one) => signatureCode(reference, name, one)));
    const { comment } = same[0];
    parts.push(
      `\`\`\`ts\n${[...new Set(codes)].join("\n")}\n\`\`\``,
      sentences(reference, comment),
      exampleOf(same.map((one) => one.comment)),
      parametersTable(reference, same),
      returnsText(reference, same),
      throwsText(reference, comment),
    );
  }
  return parts;
}

/**
 * Groups overloads with docstrings that begin with the same words. In a group, the longest docstring is
 * first.
 */
export function grouped(signatures) {
  const groups = [];
  for (const signature of signatures) {
    const own = plain(signature.comment?.summary).split(/[.:]\s|[.:]$/)[0];
    const group = groups.find(([first]) => plain(first.comment?.summary).startsWith(own));
    if (group === undefined) groups.push([signature]);
    else group.push(signature);
  }
  return groups;
}

/** The parameters of the shown overloads. Words that are missing come from the other overloads. */
function parametersTable(reference, signatures) {
  const rows = new Map();
  const usual = usualOf(reference, signatures);
  for (const signature of signatures.toReversed()) {
    for (const { name, shown, type, defaultValue, comment } of parametersOf(reference, signature)) {
      const about = sentences(reference, comment);
      if (rows.has(name)) rows.get(name).about ||= about;
      else if (usual.includes(signature)) {
        const isShown = defaultValue !== undefined && !/^\{|\.\.\./.test(defaultValue);
        const without = isShown ? ` Without it: \`${defaultValue}\`.` : "";
        rows.set(name, { name: shown, type, about: about + without });
      }
    }
  }
  return typesTable(reference, "Parameter", [...rows.values()]);
}

function returnsText(reference, signatures) {
  const tag = signatures.map(({ comment }) => comment?.getTag("@returns")).find(Boolean);
  const about = partsText(reference, tag?.content);
  const returned = signatures[0].type;
  if (returned?.type === "reflection" && membersOf(returned.declaration).length > 0) {
    const rows = membersOf(returned.declaration).map((member) => memberRow(reference, member));
    return `**Returns** ${about || "an object:"}\n\n${table(["Member", "About"], rows)}`;
  }
  const type = returnType(reference, signatures.at(-1));
  if (tag !== undefined) {
    return `**Returns** ${reference.linkType(type)}: ${about.replace(/\n/g, " ")}`;
  }
  // The signature already says such a type.
  if (/^(?:void|Promise<void>|ReactElement)$/.test(type)) return "";
  return `**Returns** ${reference.linkType(type)}`;
}

/** A member of a function's result, with a link to the page of the member, or of its type. */
function memberRow(reference, member) {
  const type = reference.exported.get(/^\w+/.exec(typeOf(reference, member))?.[0]);
  const all = [member, reference.exported.get(member.name), type].filter(Boolean);
  const comment = all.map(commentOf).find(Boolean);
  return [reference.link(`\`${member.name}\``, ...all), firstSentence(reference, comment)];
}

function throwsText(reference, comment) {
  const tags = comment?.getTags("@throws") ?? [];
  const reasons = tags.map(({ content }) =>
    partsText(reference, content).replace(/^(\w*Error)\b/, (name) => reference.linkName(name)),
  );
  if (reasons.length < 2) return reasons.map((reason) => `**Throws** ${reason}`).join("");
  return `**Throws**\n\n${reasons.map((text) => `- ${text.replace(/\n/g, "\n  ")}`).join("\n")}`;
}
