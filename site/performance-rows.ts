/** Rows of docs/performance.md for a page that shows some of them, so that no figure stands twice. */

const PLACE = /<!-- rows of docs\/performance\.md:\n([\s\S]*?)\n-->/g;

/**
 * Replaces a comment that names scenarios, one in a line, by a table of them.
 *
 * @param performance the text of docs/performance.md. Its first table of scenarios is used.
 * @throws Error about a scenario that has no such row.
 */
export function withRows(text: string, performance: string): string {
  const [, table = ""] = /^(\| scenario [\s\S]*?)\n\n/m.exec(performance) ?? [];
  const [head = "", rule = "", ...rows] = table.replaceAll(/ +/g, " ").split("\n");
  return text.replace(PLACE, (_, names: string) =>
    [head, rule, ...names.split("\n").map((name) => rowOf(name, rows))].join("\n"),
  );
}

function rowOf(name: string, rows: readonly string[]): string {
  const row = rows.find((line) => line.startsWith(`| ${name} |`));
  if (row === undefined) throw new Error(`docs/performance.md has no "${name}" in its first table`);
  return row;
}
