/** Runs the driver and the tests of docs/drivers.md, as they are printed there, on PostgreSQL. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { createPostgres } from "../support/database.js";
import { blocksOf, readPage } from "./pages.js";

/** Within the repository, so that the package's own name resolves to it. */
const WORK = fileURLToPath(new URL("drivers/.tmp/", import.meta.url));
const DRIVER = "server/postgres-driver.ts";
const TESTS = "test/postgres-driver.test.ts";

const blocks = blocksOf(await readPage("docs/drivers.md"));
const database = await createPostgres();
afterAll(() => database[Symbol.asyncDispose]());
process.env["TEST_DATABASE_URL"] = database.url;

await rm(WORK, { recursive: true, force: true });
for (const path of [DRIVER, TESTS]) {
  const block = blocks.find((each) => each.path === path);
  await mkdir(dirname(join(WORK, path)), { recursive: true });
  await writeFile(join(WORK, path), block?.code ?? "");
}

describe("the driver of the guide", async () => {
  await import(join(WORK, TESTS));

  it("has tests that the guide prints", () => {
    expect(blocks.map(({ path }) => path)).toEqual([DRIVER, TESTS]);
  });
});
