/** What `npm publish` would send: the README's links have to lead somewhere there, too. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

it("holds what the README links to, and the migrations as SQL", async () => {
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--dry-run", "--json", "--ignore-scripts"],
    { cwd: root },
  );
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const packed = files.map(({ path }) => path);
  const readme = await readFile(new URL("README.md", root), "utf8");
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, target]) => target!);
  expect(links.length).toBeGreaterThan(3);
  for (const target of links) {
    expect(packed.some((path) => path === target || path.startsWith(`${target}/`))).toBe(true);
  }
  for (const database of ["prisma", "prisma/postgresql", "prisma/mysql"]) {
    const sql = packed.filter((path) => path.startsWith(`${database}/migrations/`));
    expect(sql.some((path) => path.endsWith("migration.sql"))).toBe(true);
  }
});
