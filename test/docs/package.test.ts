/** What `npm publish` would send: the links of its pages have to lead somewhere there, too. */
import { execFile } from "node:child_process";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { publishedPages, relativeLinksOf, ROOT } from "./pages.js";

it("holds the pages, what they link to, and the migrations as SQL", async () => {
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--dry-run", "--json", "--ignore-scripts"],
    { cwd: ROOT },
  );
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const packed = files.map(({ path }) => path);
  for (const page of await publishedPages()) {
    expect(packed).toContain(page.path);
    for (const link of relativeLinksOf(page)) {
      const file = link.split("#")[0]!;
      const target = file === "" ? page.path : normalize(join(dirname(page.path), file));
      const isPacked = packed.some((path) => path === target || path.startsWith(`${target}/`));
      expect(isPacked, `${page.path} links to ${link}`).toBe(true);
    }
  }
  for (const database of ["prisma", "prisma/postgresql", "prisma/mysql"]) {
    const sql = packed.filter((path) => path.startsWith(`${database}/migrations/`));
    expect(sql.some((path) => path.endsWith("migration.sql"))).toBe(true);
  }
});
