/** Tables of Markdown. */

export function table(heads, rows) {
  if (rows.length === 0) return "";
  return [heads, heads.map(() => "---"), ...rows].map(lineOf).join("\n");
}

/**
 * A table of options, members or parameters, which have a type. The type stands above the words, so that
 * both have room on a phone.
 */
export function typesTable(reference, head, rows) {
  const lines = rows.map(({ name, type, about }) => {
    const code = reference.linkType(type);
    return [`\`${name}\``, about === "" ? code : `${code}<br>${about}`];
  });
  return table([head, "About"], lines);
}

function lineOf(cells) {
  return `| ${cells.map(cell).join(" | ")} |`;
}

function cell(text) {
  return text
    .replace(/\n{2,}/g, "<br><br>")
    .replace(/\n(?=- )/g, "<br>")
    .replace(/\n/g, " ")
    .replace(/(?<!\\)\|/g, "\\|");
}
