/** Which projects are compiled: those with changed files, and those that use them. */
import { expect, it } from "vitest";
import { checkSteps, linkAll, makeInstalled, replacing } from "../../../support/check-plan.js";
import { join } from "node:path";

const long = { timeout: 120_000 };

const settings = (more = "") => `{
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2022"],
    "module": "preserve",
    "strict": true,
    "skipLibCheck": true,
    "types": []${more && `,\n    ${more}`}
  },
  "include": ["src"]
}
`;
const manifest = (name: string, more: object = {}) => JSON.stringify({ name, ...more });

/** The web application uses the API, which uses nothing. */
const MONOREPO = {
  "package.json": manifest("shop", { workspaces: ["apps/*", "packages/*"] }),
  "packages/api/package.json": manifest("@shop/api", {
    exports: "./src/index.ts",
    dependencies: { "@trpc/server": "*" },
  }),
  "packages/api/tsconfig.json": settings(),
  "packages/api/src/index.ts": `import { initTRPC } from "@trpc/server";

const t = initTRPC.create();
export const appRouter = t.router({ hello: t.procedure.query(() => "hello") });
export const version = { major: 1 };
`,
  "apps/web/package.json": manifest("web", { dependencies: { "@shop/api": "*" } }),
  "apps/web/tsconfig.json": settings(),
  "apps/web/src/main.ts": `import { version } from "@shop/api";

export const major: number = version.major;
`,
  "apps/docs/package.json": manifest("docs"),
  "apps/docs/tsconfig.json": "{ this is no json",
};

async function makeMonorepo(files: Record<string, string>) {
  const app = await makeInstalled(files, ["@trpc/server"]);
  await linkAll(app.root, { "@shop/api": join(app.root, "packages/api") });
  return app;
}

const WRONG = replacing("packages/api/src/index.ts", "{ major: 1 }", "{ minor: 1 }");
const RIGHT = replacing("packages/api/src/index.ts", "{ major: 1 }", "{ major: 2, minor: 1 }");
const USE = replacing("apps/web/src/main.ts", "version.major", "version.major + version.minor");

const BUILT = manifest("@shop/api", {
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
  dependencies: { "@trpc/server": "*" },
});

it.each([
  ["from its sources", {}],
  [
    "as it was built before",
    {
      "packages/api/package.json": BUILT,
      "packages/api/dist/index.d.ts": "export declare const version: { major: number };\n",
    },
  ],
  [
    "by a reference to a project that is not built",
    {
      "packages/api/tsconfig.json": settings('"composite": true,\n    "outDir": "dist"'),
      "apps/web/tsconfig.json": settings('"composite": true,\n    "outDir": "dist"').replace(
        '"include"',
        '"references": [{ "path": "../../packages/api" }],\n  "include"',
      ),
    },
  ],
])("a web application that imports an API %s is compiled with it", long, async (_, files) => {
  await using app = await makeMonorepo({ ...MONOREPO, ...files });
  const before = await app.readAll();
  const wrong = await checkSteps(app.root, [WRONG]);
  expect(wrong.changes).toEqual([]);
  expect(wrong.byHand).toMatchObject([
    { why: expect.stringMatching(/TS2339 Property 'major' .*, in apps\/web\/src\/main\.ts$/) },
  ]);
  const right = await checkSteps(app.root, [RIGHT, USE]);
  expect(right).toMatchObject({
    byHand: [],
    notes: ["tsc of packages/api and apps/web: no new error."],
  });
  expect(await app.readAll()).toEqual(before);
});

it(
  "packages that are added are linked if they are there, and no mistake if not",
  long,
  async () => {
    await using app = await makeInstalled(
      {
        ...MONOREPO,
        "packages/db/package.json": manifest("@shop/db", { exports: "./src/index.ts" }),
        "packages/db/src/index.ts": `export const db = { name: "db" };\n`,
      },
      ["@trpc/server"],
    );
    const added = {
      file: "packages/api/package.json",
      text: MONOREPO["packages/api/package.json"].replace(
        '"@trpc/server":"*"',
        '"@trpc/server":"*","@shop/db":"*","not-installed":"*"',
      ),
    };
    const limits = (name: string) => ({
      file: "packages/api/src/limits.ts",
      text: `import { db } from "@shop/db";\nimport { x } from "not-installed/x";\n\nx(db.${name});\n`,
    });
    const right = await checkSteps(app.root, [added, limits("name")]);
    expect(right).toMatchObject({ byHand: [], changes: [{}, {}] });
    const wrong = await checkSteps(app.root, [added, limits("missing")]);
    expect(wrong.byHand).toMatchObject([{ why: expect.stringContaining("TS2339") }]);
  },
);

it("errors that the settings of another application find are nobody's", long, async () => {
  await using app = await makeMonorepo({
    ...MONOREPO,
    "packages/api/package.json": BUILT,
    "apps/web/tsconfig.json": settings('"noUnusedLocals": true'),
  });
  const plan = await checkSteps(app.root, [
    replacing("packages/api/src/index.ts", "const t", "const unused = 1;\nconst t"),
  ]);
  expect(plan.byHand).toEqual([]);
});

it("a project that only lists projects stands for them", long, async () => {
  await using app = await makeInstalled(
    {
      "package.json": manifest("app"),
      "tsconfig.json": `{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }`,
      "tsconfig.app.json": settings('"tsBuildInfoFile": "./node_modules/.tmp/app.tsbuildinfo"'),
      "src/a.ts": "export const a: string | number = 1;\n",
      "src/b.ts": `import { a } from "./a";\n\nexport const b = a.toFixed();\n`,
    },
    [],
  );
  const plan = await checkSteps(app.root, [
    replacing("src/a.ts", ": string | number = 1", ' = "1"'),
  ]);
  expect(plan.byHand).toMatchObject([{ why: expect.stringContaining("TS2551") }]);
  expect(plan.notes).toEqual(["tsc: no new error without the edits of src/a.ts."]);
});

it(
  "a package that is installed in the folder above, and its settings, are found",
  long,
  async () => {
    await using app = await makeInstalled(
      {
        "pnpm-workspace.yaml": "packages: [one]\n",
        "settings.json": settings().replace('"include": ["src"]', '"exclude": []'),
        "one/package.json": manifest("one"),
        "one/tsconfig.json": `{ "extends": "../settings.json", "include": ["src"] }`,
        "one/src/a.ts": `import { z } from "zod";\n\nexport const a = z.string().parse("a");\n`,
      },
      ["zod"],
    );
    const plan = await checkSteps(join(app.root, "one"), [
      replacing("src/a.ts", '.parse("a")', '.parse("a").toFixed()'),
    ]);
    expect(plan.byHand).toMatchObject([{ why: expect.stringContaining("TS2551") }]);
  },
);

it("a project with wrong settings is named, and the others are compiled", long, async () => {
  const wrong = settings('"types": ["nothing"]').replace('"types": [],\n    ', "");
  await using app = await makeMonorepo({ ...MONOREPO, "apps/web/tsconfig.json": wrong });
  const plan = await checkSteps(app.root, [RIGHT, USE]);
  expect(plan.notes).toEqual([
    "tsc of packages/api: no new error. Not checked with apps/web/tsconfig.json, because it says: " +
      "TS2688 Cannot find type definition file for 'nothing'.",
  ]);
});
