/** Workspaces with a catalog whose root has this package already. */
import { honoWorkspace } from "./hono-workspace.js";
import { json, pnpmWorkspace } from "./parts.js";
import type { Files, Shape } from "./shape.js";

const CATALOG = `
catalog:
  "@trpc/server": ^11.8.0
  zod: ^4.1.0
`;

function withRoot(specifier: string): Files {
  const files = Object.entries(honoWorkspace()).map(([file, text]) => [
    file,
    text.replace(/("@trpc\/server"|"zod"): "\^[\d.]+"/g, '$1: "catalog:"'),
  ]);
  return {
    ...(Object.fromEntries(files) as Files),
    "package.json": json({
      name: "depot",
      private: true,
      packageManager: "pnpm@10.28.0",
      dependencies: { "trpc-rate-limit": specifier },
    }),
    "pnpm-workspace.yaml": pnpmWorkspace(CATALOG),
  };
}

const GUESSED = `"^1.2.3"`;

export const CATALOGS: readonly Shape[] = [
  {
    name: "a catalog, and this package in the root",
    files: withRoot("~1.2.0"),
    right: {
      written: {
        "pnpm-workspace.yaml": [/^ {2}trpc-rate-limit: ["']?~1\.2\.0["']?$/m],
        "packages/api/package.json": [`"trpc-rate-limit": "catalog:"`],
        "apps/server/package.json": [`"trpc-rate-limit": "catalog:"`],
      },
      untouched: ["package.json"],
      never: [GUESSED, "trpc-rate-limit: ^"],
    },
  },
  {
    name: "a catalog, and this package in the root from an archive",
    files: withRoot("file:vendor/trpc-rate-limit-1.2.3.tgz"),
    right: {
      // pnpm takes no file in a catalog, and finds no release of this version elsewhere.
      untouched: ["pnpm-workspace.yaml", "package.json"],
      written: {
        "packages/api/package.json": [
          `"trpc-rate-limit": "file:../../vendor/trpc-rate-limit-1.2.3.tgz"`,
        ],
        "apps/server/package.json": [
          `"trpc-rate-limit": "file:../../vendor/trpc-rate-limit-1.2.3.tgz"`,
        ],
      },
      never: [GUESSED, `"trpc-rate-limit": "catalog:"`],
    },
  },
];
