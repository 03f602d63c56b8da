/** Rows of docs/performance.md for a page that shows some of them, so that no figure stands twice. */

/** The table's columns that are shown: scenario, contender, times the peer, calls/s, p50, p99. */
const SHOWN = 6;
const PLACE = /<!-- rows of docs\/performance\.md:\n([\s\S]*?)\n-->/g;
const CONTENDERS = ["ours, pg", "rate-limiter-flexible, PostgreSQL"];

/**
 * Replaces a comment that names scenarios, one in a line, by a table of them.
 *
 * @param performance the text of docs/performance.md.
 * @throws Error about a scenario that has no such rows.
 */
export function withRows(text: string, performance: string): string {
  const lines = performance.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const head = lines.find(([first]) => first === "scenario")!;
  return text.replace(PLACE, (_, names: string) => {
    const rows = names.split("\n").flatMap((name) =>
      CONTENDERS.map((contender) => {
        const row = lines.find((cells) => cells[0] === name && cells[1] === contender);
        if (row === undefined)
          throw new Error(`docs/performance.md has no "${name}" of ${contender}`);
        return row;
      }),
    );
    const numbers = head.slice(0, SHOWN).map((_title, i) => (i < 2 ? "---" : "--:"));
    return [head, numbers, ...rows]
      .map((cells) => `| ${cells.slice(0, SHOWN).join(" | ")} |`)
      .join("\n");
  });
}
