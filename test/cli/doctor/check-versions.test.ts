/** The findings of `doctor` about installed versions. */
import { expect, it } from "vitest";
import { checkVersions, TRIED } from "../../../cli/doctor/check-versions.js";
import { makeFolder } from "../../support/scaffold.js";

async function check(packages: Record<string, string>, peers: Record<string, string> = {}) {
  const files = Object.entries(packages).map(([name, version]) => [
    `node_modules/${name}/package.json`,
    JSON.stringify({ name, version }),
  ]);
  await using app = await makeFolder(Object.fromEntries(files) as Record<string, string>);
  return checkVersions(app.root, peers);
}

it("says that prisma was left behind by its client, and what to run", async () => {
  const packages = { prisma: "6.6.0", "@prisma/client": "6.19.3" };
  expect(await check(packages)).toEqual([
    {
      check: "versions",
      level: "warning",
      message: "prisma is 6.6.0, and @prisma/client is 6.19.3",
      advice: "run npm install prisma@6.19 @prisma/client@6.19, and npx prisma generate",
    },
  ]);
  const other = { prisma: "7.1.0", "@prisma/client": "6.19.3" };
  expect((await check(other))[0]!.advice).toContain("@prisma/client@7.1,");
});

it.each([
  ["their patches differ", { prisma: "7.10.1", "@prisma/client": "7.10.0" }],
  ["the command is missing, as on a server", { "@prisma/client": "6.19.3" }],
])("is content with prisma and its client if %s", async (_, packages) => {
  expect(await check(packages)).toMatchObject([{ level: "ok" }]);
});

it.each([
  ["@prisma/client", "4.16.2"],
  ["@prisma/client", "8.0.0-rc.19"],
  ["drizzle-orm", "0.28.6"],
])("warns of %s %s, which was not run, and which is no peer", async (name, version) => {
  expect(await check({ [name]: version })).toMatchObject([
    {
      level: "warning",
      message: `${name} is ${version}, and this package has been run with ${TRIED[name]}`,
    },
  ]);
});

it("is content with a release candidate of Drizzle 1.0", async () => {
  expect(await check({ "drizzle-orm": "1.0.0-rc.5" })).toMatchObject([{ level: "ok" }]);
});

it("says which peer does not work", async () => {
  expect(await check({ zod: "3.24.2" }, { zod: "^3.25.1 || ^4.0.0" })).toMatchObject([
    { level: "error", message: "zod is 3.24.2, and this package works with ^3.25.1 || ^4.0.0" },
  ]);
});

it("says which version breaks limits, and which one to take", async () => {
  expect(await check({ "@libsql/client": "0.18.0" })).toMatchObject([
    {
      level: "error",
      message: expect.stringMatching(/^@libsql\/client is 0\.18\.0: .*SQLITE_BUSY_SNAPSHOT/),
      advice: "npm install @libsql/client@0.17.4",
    },
  ]);
});

it.each(["0.17.4", "0.18.1"])("is content with libsql %s", async (version) => {
  expect(await check({ "@libsql/client": version })).toMatchObject([{ level: "ok" }]);
});
