/** Small applications in which the package is installed last, as their developers do. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, it } from "vitest";
import { makeProject, TSC } from "./project.js";
import { expectLimitedPing } from "./requests.js";

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}/`, import.meta.url));

it("a server of tRPC's own installs, compiles, and denies the fourth call", async ({ skip }) => {
  if (inject("unreachable")) skip(inject("unreachable"));
  await using project = await makeProject(fixture("server"));
  expect(await project.install([inject("tarball")])).not.toContain("ERESOLVE");
  expect(await project.typeErrors(TSC)).toEqual([]);
  await using server = await project.serve(["out/main.js"]);
  await expectLimitedPing(server.url, { superjson: false });
  project.report("server");
});

it("a page of Vite and TanStack Query does so too, and is built", async ({ skip }) => {
  if (inject("unreachable")) skip(inject("unreachable"));
  await using project = await makeProject(fixture("vite"));
  expect(await project.install([inject("tarball")])).not.toContain("ERESOLVE");
  expect(await project.typeErrors(TSC)).toEqual([]);
  await project.run(join(project.root, "node_modules/.bin/vite"), ["build"]);
  await using server = await project.serve(["out/main.js"]);
  const page = await fetch(server.url);
  expect(await page.text()).toMatch(/<script type="module" crossorigin src="\/assets\/.*\.js">/);
  await expectLimitedPing(server.url, { superjson: false });
  project.report("vite");
});
