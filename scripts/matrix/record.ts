/** What `npm run matrix` has run, and the parts of `docs/compatibility.md` that say so. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RECORD = join(ROOT, "scripts/matrix/record.json");
const PAGE = join(ROOT, "docs/compatibility.md");

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Matrix {
  /** The month of the last run. */
  on: string;
  /** By version, in ascending order, and by suite. */
  node: { [version: string]: { [suite: string]: Counts } };
  /** The versions that the packed package was installed, compiled and called beside, by peer. */
  peers: { [name: string]: string[] };
}

export async function readRecord(): Promise<Matrix> {
  return JSON.parse(await readFile(RECORD, "utf8")) as Matrix;
}

/** Keeps the record, and writes the page by it. */
export async function writeRecord(record: Matrix): Promise<void> {
  const options = await resolveConfig(RECORD);
  const text = JSON.stringify(record, undefined, 2);
  await writeFile(RECORD, await format(text, { ...options, parser: "json" }));
  const page = pageWith(await readFile(PAGE, "utf8"), record);
  await writeFile(PAGE, await format(page, { parser: "markdown" }));
}

/** @returns the page with the record's versions in its first table, and with the table of its runs. */
export function pageWith(page: string, { on, node, peers }: Matrix): string {
  const tried = { ...peers, "Node.js": Object.keys(node) };
  const rows = Object.entries(tried).reduce((text, [name, versions]) => {
    const row = new RegExp(
      `^(\\| \`?${escape(name)}\`? +\\|(?:[^|\\\\]|\\\\\\|)+\\| )([^|]*?)( *\\|)$`,
      "m",
    );
    return text.replace(row, (_, start: string, last: string, end: string) => {
      // What stands behind a semicolon was run by hand.
      const [, note = ""] = /(;.*)$/.exec(last) ?? [];
      return `${start}${[...versions].sort(byVersion).join(", ")}${note}${end}`;
    });
  }, page);
  return rows.replace(
    /(<!-- runs -->\n)[^]*?(\n<!-- \/runs -->)/,
    (_, start: string, end: string) => `${start}\n${tableOf(on, node)}\n${end}`,
  );
}

function tableOf(on: string, node: Matrix["node"]): string {
  const suites = [...new Set(Object.values(node).flatMap((runs) => Object.keys(runs)))];
  const cell = (counts?: Counts) =>
    counts === undefined
      ? "not run"
      : `${counts.passed.toLocaleString("en")} passed` +
        (counts.failed === 0 ? "" : `, ${counts.failed} failed`) +
        (counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`);
  const lines = Object.entries(node).map(
    ([version, runs]) =>
      `| Node.js ${version} | ${suites.map((suite) => cell(runs[suite])).join(" | ")} |`,
  );
  return [
    `| ${on} | ${suites.join(" | ")} |`,
    `|${" --- |".repeat(suites.length + 1)}`,
    ...lines,
  ].join("\n");
}

/** Ascending: 5.9.0 before 5.10.0. */
export function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

function escape(text: string): string {
  return text.replaceAll(/[^\w]/g, "\\$&");
}
