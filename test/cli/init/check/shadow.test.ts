/** The copy in which edits are tried: what it has, and that the application itself is only read. */
import { existsSync } from "node:fs";
import { readdir, readFile, readlink, realpath, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Shadow } from "../../../../cli/init/check/shadow.js";
import { readProject } from "../../../../cli/init/facts/project.js";
import { type Folder, makeFolder } from "../../../support/scaffold.js";

let temporary: Folder;
let app: Folder;
beforeEach(async () => {
  temporary = await makeFolder({});
  app = await makeFolder({
    "package.json": `{ "name": "app" }`,
    "src/a.ts": "export {};\n",
    "src/styles.css": "",
    ".git/config.json": "{}",
    ".next/types/a.ts": "export {};\n",
    ".next/server/a.js": "",
    "dist/a.d.ts": "export {};\n",
    "data.json": `"${"x".repeat(2_000_000)}"`,
    "large.d.ts": `// ${"x".repeat(2_000_000)}\n`,
    "node_modules/one/index.d.ts": "export {};\n",
    "node_modules/@scope/two/index.d.ts": "export {};\n",
    "node_modules/.cache/a.ts": "",
    "node_modules/trpc-rate-limit/package.json": `{ "version": "0.0.1" }`,
  });
  vi.stubEnv("TMPDIR", temporary.root);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await temporary[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

const open = async () => Shadow.open(await readProject(app.root));
const change = (file: string, before: string | undefined, after: string) => ({
  file,
  before,
  after,
});

it("has the files that a compiler reads, and links to packages, until it is closed", async () => {
  const shadow = await open();
  const entries = await readdir(shadow.top, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name).slice(shadow.top.length + 1));
  expect(files.toSorted()).toEqual([
    ".next/types/a.ts",
    "dist/a.d.ts",
    "large.d.ts",
    "node_modules/@scope/two",
    "node_modules/one",
    "package.json",
    "src/a.ts",
  ]);
  await shadow.close();
  expect(await readdir(temporary.root)).toEqual([]);
  expect(existsSync(join(app.root, "node_modules/one/index.d.ts"))).toBe(true);
});

it("has this package, beside the packages of the application that its types import", async () => {
  await app.write("node_modules/react/index.d.ts", "");
  await app.write("node_modules/@types/react/index.d.ts", "");
  const shadow = await open();
  const own = await realpath(join(shadow.top, "../node_modules/trpc-rate-limit"));
  expect(existsSync(join(own, "dist/server/index.d.ts"))).toBe(true);
  expect(existsSync(join(own, "dist/server/index.js"))).toBe(false);
  for (const name of ["react", "@types/react"]) {
    const root = await realpath(app.root);
    expect(await readlink(join(own, "..", name))).toBe(join(root, "node_modules", name));
  }
  await shadow.close();
});

it("makes changes, and takes them back", async () => {
  const shadow = await open();
  const read = (file: string) => readFile(join(shadow.root, file), "utf8");
  await shadow.apply([
    change("src/a.ts", "export {};\n", "export const a = 1;\n"),
    change("src/new/b.ts", undefined, "export {};\n"),
  ]);
  expect(await read("src/a.ts")).toBe("export const a = 1;\n");
  expect(await read("src/new/b.ts")).toBe("export {};\n");
  await shadow.apply([]);
  expect(await read("src/a.ts")).toBe("export {};\n");
  expect(existsSync(join(shadow.root, "src/new/b.ts"))).toBe(false);
  await shadow.close();
});

it("writes through no link into the application", async () => {
  await using outside = await makeFolder({ "a.ts": "outside\n" });
  await symlink("../node_modules/one", join(app.root, "src/one"));
  await symlink(outside.root, join(app.root, "src/outside"));
  await symlink("../node_modules/one/index.d.ts", join(app.root, "src/linked.d.ts"));
  const before = await app.readAll();
  const shadow = await open();
  for (const file of ["src/one/index.d.ts", "src/one/new/a.ts", "src/outside/a.ts"]) {
    await expect(shadow.apply([change(file, "", "changed")])).rejects.toThrow(
      `${file} is behind a link`,
    );
  }
  await shadow.apply([change("src/linked.d.ts", "", "changed")]);
  await shadow.close();
  expect(await app.readAll()).toEqual(before);
  expect(await outside.readAll()).toEqual({ "a.ts": "outside\n" });
});

it("follows no cycle of links, and links of sources lead to their copies", async () => {
  await symlink("..", join(app.root, "src/up"));
  await symlink("missing", join(app.root, "src/nothing"));
  const shadow = await open();
  expect(await realpath(join(shadow.root, "src/up"))).toBe(shadow.top);
  await shadow.close();
});

it("is not made of an application without packages", async () => {
  await rm(join(app.root, "node_modules"), { recursive: true });
  await expect(open()).rejects.toThrow("there is no folder node_modules");
  expect(await readdir(temporary.root)).toEqual([]);
});
