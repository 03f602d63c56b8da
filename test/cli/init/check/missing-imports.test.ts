import { expect, it } from "vitest";
import { missingImport } from "../../../../cli/init/check/missing-imports.js";
import { readProject } from "../../../../cli/init/facts/project.js";
import { type Folder, makeFolder } from "../../../support/scaffold.js";
import { checkSteps } from "../../../support/check-plan.js";

const FILES = {
  "package.json": `{ "name": "app", "dependencies": { "hono": "*" } }`,
  "tsconfig.json": `{ "compilerOptions": { "paths": { "~/*": ["./src/*"] } } }`,
  "src/a.ts": `import "~/server/b";\nimport "present";\n`,
  "src/server/b.ts": "",
  "src/server/index.ts": "",
};

async function missingIn(app: Folder, from: string, more: object = {}) {
  const before = FILES["src/a.ts"];
  const changes = [
    { file: "src/a.ts", before, after: `import "${from}";\n${before}` },
    { file: "src/new.tsx", before: undefined, after: "" },
  ];
  const plan = { changes, byHand: [], present: [], notes: [], next: [], ...more };
  return (await missingImport(await readProject(app.root), plan))?.from;
}

it.each([
  "./server/b",
  "./server/b.js",
  "./server/b.ts",
  "./server",
  "./new",
  "~/server/b",
  "hono/deep",
  "node:net",
  "net",
  "present/deep",
  "#app",
  "app/own",
])("an import of %s leads to something", async (from) => {
  await using app = await makeFolder(FILES);
  expect(await missingIn(app, from)).toBeUndefined();
});

it.each(["./server/c", "~/server/c", "../b", "express", "@hono/node-server"])(
  "an import of %s leads to nothing",
  async (from) => {
    await using app = await makeFolder(FILES);
    expect(await missingIn(app, from)).toBe(from);
  },
);

it("a package that a plan installs is there", async () => {
  await using app = await makeFolder(FILES);
  const changed = {
    changes: [
      { file: "a.js", before: undefined, after: 'import "zod";\n' },
      { file: "package.json", before: "", after: `{ "dependencies": { "zod": "*" } }` },
    ],
  };
  expect(await missingIn(app, "zod", changed)).toBeUndefined();
  const byHand = [{ file: "package.json", why: "it is read-only", lines: '"zod": "*"' }];
  expect(await missingIn(app, "zod", { byHand })).toBeUndefined();
  expect(await missingIn(app, "trpc-rate-limit/server")).toBeUndefined();
  const listed = {
    changes: [
      {
        file: "one/package.json",
        before: "",
        after: `{ "dependencies": { "trpc-rate-limit": "*" } }`,
      },
      { file: "a.js", before: undefined, after: 'import "trpc-rate-limit/server";\n' },
    ],
  };
  expect(await missingIn(app, "", listed)).toBe("trpc-rate-limit/server");
});

it("an edit with an import that leads to nothing is printed, without a compiler", async () => {
  await using app = await makeFolder({
    "package.json": `{ "name": "app", "type": "module" }`,
    "a.js": "export {};\n",
  });
  const plan = await checkSteps(app.root, [
    { file: "b.js", text: `import { c } from "./c.js";\n` },
    { file: "d.js", text: `import "./a.js";\n` },
  ]);
  expect(plan.changes.map(({ file }) => file)).toEqual(["d.js"]);
  expect(plan.byHand).toMatchObject([
    { file: "b.js", why: "its import of ./c.js would lead to nothing" },
  ]);
});
