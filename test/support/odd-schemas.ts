/** Applications whose package.json, Prisma schema or permissions are odd. Each name says what is odd. */
import { ALL, CLIENT, type OddProject, PACKAGE, prisma, SCHEMA } from "./odd-project.js";

export const ODD_SCHEMAS: OddProject[] = [
  {
    name: "package.json on one line",
    files: prisma({
      "package.json": `{"name":"a","dependencies":{"@trpc/server":"1","react":"2","zod":"3","next":"4"}}`,
    }),
    changes: ["package.json", "prisma/schema.prisma", "src/server/limits.ts"],
    has: {
      "package.json": `{"@trpc/server":"1","react":"2","trpc-rate-limit":"^1.2.3","zod":"3","next":"4"}`,
    },
  },
  {
    name: "two dependencies to a line",
    files: prisma({
      "package.json": `{\n  "dependencies": {\n    "a": "1", "b": "2",\n    "c": "3", "z": "4"\n  }\n}\n`,
    }),
    changes: ALL,
    has: { "package.json": `    "c": "3", "trpc-rate-limit": "^1.2.3", "z": "4"\n` },
  },
  {
    name: "a version with an escaped quote",
    files: prisma({
      "package.json": `{\n  "dependencies": {\n    "a": "file:\\"x\\"",\n    "b": "1"\n  }\n}\n`,
    }),
    changes: ALL,
    has: { "package.json": `"a": "file:\\"x\\"",\n    "b": "1",\n    "trpc-rate-limit": "^1.2.3"` },
  },
  {
    name: "pnpm's packageExtensions before the dependencies",
    files: prisma({
      "package.json": `{\n  "pnpm": {\n    "packageExtensions": {\n      "x": {\n        "dependencies": {\n          "y": "1"\n        }\n      }\n    }\n  },\n  "dependencies": {\n    "zod": "4"\n  }\n}\n`,
    }),
    changes: ALL,
    has: { "package.json": `"dependencies": {\n    "trpc-rate-limit": "^1.2.3",\n    "zod": "4"` },
  },
  {
    name: "tabs, and no line end at the end",
    files: prisma({ "package.json": `{\n\t"dependencies": {\n\t\t"a": "1"\n\t}\n}` }),
    changes: ALL,
    has: { "package.json": `\t\t"a": "1",\n\t\t"trpc-rate-limit": "^1.2.3"\n\t}\n}` },
  },
  {
    name: "no dependencies",
    files: prisma({ "package.json": `{ "name": "a", "dependencies": {} }` }),
    changes: ["prisma/schema.prisma", "src/limits.ts"],
    says: [/^1\. npm install trpc-rate-limit$/m],
  },
  {
    name: "two lists of dependencies",
    files: prisma({
      "package.json": `{ "dependencies": { "a": "1" }, "dependencies": { "b": "1" } }`,
    }),
    changes: ["prisma/schema.prisma", "src/limits.ts"],
  },
  {
    name: "package.json with a byte order mark and Windows line ends",
    files: prisma({ "package.json": `\uFEFF${PACKAGE}`.replaceAll("\n", "\r\n") }),
    changes: ALL,
    has: { "package.json": `"trpc-rate-limit": "^1.2.3",\r\n` },
  },
  {
    name: "package.json with comments",
    files: prisma({ "package.json": `{ // mine\n"dependencies": { "a": "1" } }` }),
    changes: [],
    refuses: /package\.json is not a JSON object/,
  },
  {
    name: "package.json in Latin-1",
    files: prisma({ "package.json": Buffer.from(PACKAGE.replace("app", "ap\u00e9"), "latin1") }),
    changes: ["prisma/schema.prisma", "src/limits.ts"],
    says: [/By hand, in package\.json \(it is not valid UTF-8\):\n\n {4}"trpc-rate-limit": "\^1/],
  },
  {
    name: "a Prisma schema in Latin-1",
    files: prisma({ "prisma/schema.prisma": Buffer.from(`// \u00e9\n${SCHEMA}`, "latin1") }),
    changes: ["package.json", "src/limits.ts"],
    says: [
      /By hand, in prisma\/schema\.prisma \(it is not valid UTF-8\):\n\n.*\n {4}model RateLimit/,
    ],
  },
  {
    name: "a Prisma schema with mixed line ends",
    files: prisma({ "prisma/schema.prisma": SCHEMA.replace("{\n  provider", "{\r\n  provider") }),
    changes: ALL,
    has: { "prisma/schema.prisma": "generator client {\r\n  provider" },
  },
  {
    name: "an enum RateLimit",
    files: prisma({ "prisma/schema.prisma": `${SCHEMA}\nenum RateLimit {\n  LOW\n  HIGH\n}\n` }),
    changes: ALL,
    says: [/There is enum RateLimit in prisma\/schema\.prisma, so .* is TrpcRateLimit\./],
    has: {
      "prisma/schema.prisma": "model TrpcRateLimit {",
      "src/limits.ts": `{ model: "TrpcRateLimit" }`,
    },
  },
  {
    name: "a view and a type with both names",
    files: prisma({
      "prisma/schema.prisma": `${SCHEMA}\nview RateLimit {\n  id Int @unique\n}\n\ntype TrpcRateLimit {\n  id Int\n}\n`,
    }),
    changes: [],
    refuses: /has view RateLimit in .* and type TrpcRateLimit in .*, so init has no name/,
  },
  {
    name: "a model RateLimit in a comment",
    files: prisma({
      "prisma/schema.prisma": `/*\nmodel RateLimit {\n  id Int @id\n}\n*/\n${SCHEMA}`,
    }),
    changes: ALL,
    has: { "prisma/schema.prisma": "}\n\n/// The limits of trpc-rate-limit" },
  },
  {
    name: "our model, written in another way",
    files: prisma({
      "prisma/schema.prisma": `${SCHEMA}\nmodel Limits {\n  name String\n  key String\n  shard Int\n  used Float\n  ts Float\n  @@id(fields: [name,key,shard])\n}\n`,
    }),
    changes: ["package.json", "src/limits.ts"],
    has: { "src/limits.ts": `prismaStore(prisma, { model: "Limits" })` },
  },
  {
    name: "a folder of Prisma schemas",
    files: {
      "package.json": PACKAGE,
      "prisma/schema/main.prisma": SCHEMA,
      "prisma/schema/post.prisma": "model Post {\n  id Int @id\n}\n",
      "src/db.ts": CLIENT,
    },
    changes: ["package.json", "prisma/schema/rate-limit.prisma", "src/limits.ts"],
  },
  {
    name: "a Prisma schema outside of the folder",
    files: prisma({
      "prisma.config.ts": `export default { schema: "../elsewhere/schema.prisma" };\n`,
    }),
    changes: ["package.json", "src/limits.ts"],
    says: [/By hand, in \.\.\/elsewhere\/schema\.prisma \(it is outside of this folder: /],
  },
  {
    name: "a read-only Prisma schema",
    files: prisma(),
    readOnly: ["prisma/schema.prisma"],
    changes: ["package.json", "src/limits.ts"],
    says: [/By hand, in prisma\/schema\.prisma \(it is read-only\):/],
  },
  {
    name: "a read-only folder for limits.ts",
    files: prisma({ "src/server/other.ts": "export {};\n" }),
    readOnly: ["src/server"],
    changes: ["package.json", "prisma/schema.prisma"],
    says: [/By hand, in src\/server\/limits\.ts \(its folder is read-only\):/],
  },
  {
    name: "a Prisma schema that is a link to another folder",
    files: { "package.json": PACKAGE, "src/db.ts": CLIENT },
    links: { "prisma/schema.prisma": "../../elsewhere/schema.prisma" },
    changes: ["package.json", "src/limits.ts"],
    says: [/By hand, in prisma\/schema\.prisma \(it is outside of this folder: /],
  },
  {
    name: "a folder that is a link to another folder",
    files: prisma(),
    links: { "src/server": "../../elsewhere" },
    changes: ["package.json", "prisma/schema.prisma"],
    says: [/By hand, in src\/server\/limits\.ts \(it is outside of this folder: /],
  },
  {
    name: "limits.ts as a link to nothing",
    files: prisma(),
    links: { "src/limits.ts": "nothing.ts" },
    changes: ["package.json", "prisma/schema.prisma"],
    says: [/By hand, in src\/limits\.ts \(it is a link to a file that is missing\):/],
  },
  {
    name: "a file of limits of its own",
    files: prisma({ "src/limits.ts": "export const limits = { users: 10 };\n" }),
    changes: ["package.json", "prisma/schema.prisma"],
    says: [/By hand, in src\/limits\.ts \(there is a file of this name already/],
  },
];
