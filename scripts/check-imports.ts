/**
 * Keeps the arrows between the folders pointing one way: `core` imports nothing, `server` and `client`
 * import `core`, and the client knows the server by its types only. Only `server/trpc` knows tRPC and
 * Zod. Nothing imports `cli`, and only `cli` imports `testing`. The example uses the package as its users do, by name. A part
 * of the example imports the code that all parts share, and no other part. Inside of `server/store`,
 * general code does not import the code of a single driver or dialect. No file imports itself through
 * others, types included. An entry point without tRPC among its peers reaches no tRPC, types included.
 * Code that applications load never compares with a class of a package: an
 * application may have another copy of the class.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ENTRY_POINTS } from "./entry-points.js";
import { findCycles } from "./import-cycles.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * The imports that a folder may have. A folder inside of it with its own rule obeys only its own rule.
 */
interface Rule {
  folder: string;
  /**
   * The folders and packages that the folder may import, by their start. Imports from the folder itself
   * are always allowed.
   */
  may: readonly string[];
  /** The folders and packages from which it may import only types. */
  mayType: readonly string[];
}

/** The packages that the example imports, including this package. */
const EXAMPLE_PACKAGES = [
  "trpc-rate-limit",
  "@",
  "code:",
  "node:",
  "react",
  "react-dom",
  "cookie",
  "sirv",
  "uplot",
  "uqr",
  "vite",
  "zod",
];

/** The parts of the example that a reader can copy alone. */
const EXAMPLE_PARTS = [
  "behind",
  "chat",
  "control-room",
  "log-in",
  "model",
  "overview",
  "phone",
  "playground",
  "race",
  "side-by-side",
  "sign-ups",
];

/** Files of `server/store` itself, and not of the folders in it. */
const STORE = "server/store/*";

/** The folders of the limiter, from the lowest floor to the highest. */
const LIMITER_FLOORS = [
  "types",
  "limits",
  "claims",
  "answers",
  "usage",
  "context",
  "holds",
  "verbs",
  "warnings",
  "slots",
  "list",
  "parts",
];

/** The folders that every floor of the limiter may import. */
const BESIDE_THE_LIMITER = [
  "core",
  "server/changes",
  "server/leases",
  "server/report",
  "server/runtime",
  "server/store",
  "server/timers",
];

const FOLDERS: readonly Rule[] = [
  { folder: "core", may: [], mayType: [] },
  { folder: "server", may: ["core"], mayType: [] },
  {
    folder: "server/trpc",
    may: [
      "core",
      "server/changes",
      "server/hosts",
      "server/http",
      "server/limiter",
      "server/live",
      "@trpc/server",
      "zod",
    ],
    mayType: [],
  },
  {
    // What a router and a handler of HTTP share.
    folder: "server/live",
    may: [
      "core",
      "server/changes",
      "server/hosts",
      "server/http",
      "server/limiter",
      "server/runtime",
    ],
    mayType: [],
  },
  { folder: "server/runtime", may: [], mayType: [] },
  { folder: "server/timers", may: ["core"], mayType: [] },
  { folder: "server/report", may: ["core"], mayType: [] },
  { folder: "server/limiter", may: BESIDE_THE_LIMITER, mayType: [] },
  // Each floor may import the floors below.
  ...LIMITER_FLOORS.map((floor, i) => ({
    folder: `server/limiter/${floor}`,
    may: [
      ...BESIDE_THE_LIMITER,
      ...LIMITER_FLOORS.slice(0, i).map((below) => `server/limiter/${below}`),
    ],
    mayType: [],
  })),
  {
    // Knows the AI SDK by structure alone.
    folder: "server/ai",
    may: ["core", "server/limiter/types", "server/limiter/parts/plan-of-request"],
    mayType: ["server/limiter"],
  },
  { folder: "server/leases", may: ["core", "server/store"], mayType: [] },
  {
    folder: "server/changes",
    may: ["core", "server/report", "server/runtime", "server/timers"],
    mayType: [],
  },
  { folder: "server/store", may: ["core", "server/runtime", "server/timers"], mayType: [] },
  { folder: "server/drizzle", may: ["core", "server/store"], mayType: [] },
  { folder: "server/kysely", may: ["core", "server/store", "kysely"], mayType: [] },
  {
    folder: "server/redis",
    may: ["core", "server/changes", "server/runtime", "server/store", "server/timers"],
    mayType: [],
  },
  {
    folder: "server/otel",
    may: [
      "core",
      "server/limiter/types",
      "server/limiter/parts/operator-actions",
      "@opentelemetry/api",
    ],
    mayType: ["server/store"],
  },
  {
    folder: "client",
    may: [
      "core",
      "@trpc/client",
      "@trpc/server/observable",
      "@tanstack/react-query",
      "react",
      "uplot",
    ],
    mayType: ["server", "@trpc/server"],
  },
  {
    // The command. Nothing imports this folder. The command carries the migrations as texts.
    folder: "cli",
    may: [
      "core",
      "server",
      "prisma",
      "testing",
      "node:",
      "@babel/parser",
      "@clack/prompts",
      "diff",
      "jsonc-parser",
      "magic-string",
      "tinyglobby",
      "vite",
      "yaml",
    ],
    mayType: ["@babel/types"],
  },
  // The test kit. Only the command imports it, for `verify`.
  { folder: "testing", may: ["core", "client"], mayType: ["server"] },
  // The code that hosts share. This code imports no host.
  { folder: "server/hosts", may: ["core"], mayType: ["server/limiter"] },
  {
    folder: "server/http",
    may: ["core", "server/hosts", "server/limiter/types", "server/limiter/parts/plan-of-request"],
    mayType: [],
  },
  {
    folder: "server/store/group-commit",
    may: ["core", "server/runtime", "server/timers", STORE],
    mayType: [],
  },
  {
    // Imports only the type of a connection.
    folder: "server/store/transactions",
    may: ["core", "server/runtime", "server/timers", STORE],
    mayType: ["server/store/sql/driver"],
  },
  {
    folder: "server/store/sql",
    may: [
      "core",
      "server/runtime",
      "server/timers",
      STORE,
      "server/store/group-commit",
      "server/store/transactions",
    ],
    mayType: [],
  },
  {
    folder: "server/store/drivers",
    may: [
      "core",
      "server/runtime",
      "server/timers",
      STORE,
      "server/store/sql",
      "server/store/transactions",
    ],
    mayType: [],
  },
  { folder: "example-app", may: EXAMPLE_PACKAGES, mayType: [] },
  // Runs the example in the browser, server included.
  { folder: "site/app", may: [...EXAMPLE_PACKAGES, "example-app", "site"], mayType: [] },
  ...EXAMPLE_PARTS.map((part) => ({
    folder: `example-app/${part}`,
    may: [...EXAMPLE_PACKAGES, "example-app/shared"],
    mayType: [],
  })),
];

/**
 * The rules of the server's entry points that have no rule above. A host imports only types of its
 * framework.
 */
const HOSTS = ENTRY_POINTS.flatMap(({ source, peers }): Rule[] => {
  const folder = dirname(source);
  if (!folder.startsWith("server/") || FOLDERS.some((rule) => rule.folder === folder)) return [];
  return [
    {
      folder,
      may: [
        "core",
        "server/hosts",
        "server/http",
        "server/limiter/types",
        "server/limiter/parts/plan-of-request",
      ],
      mayType: ["server/limiter", ...peers],
    },
  ];
});

const RULES = [...FOLDERS, ...HOSTS];

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^;"']*?\sfrom\s)?["']([^"']+)["'];/gm;

interface Import {
  isType: boolean;
  specifier: string;
  /** A package, or a file of the repository without its extension. */
  target: string;
}

/** The imports of each file. The names of files have no extension. */
async function importsIn(folder: string): Promise<Map<string, Import[]>> {
  const entries = await readdir(join(ROOT, folder), { recursive: true });
  const sources = entries.filter((file) => /\.tsx?$/.test(file) && !/generated|dist/.test(file));
  const found = sources.map(async (file): Promise<[string, Import[]]> => {
    const path = join(ROOT, folder, file);
    const matches = [...(await readFile(path, "utf8")).matchAll(IMPORT)];
    const imports = matches.map(([, type, specifier = ""]) => ({
      isType: type !== undefined,
      specifier,
      target: specifier.startsWith(".")
        ? withoutExtension(relative(ROOT, join(dirname(path), specifier)))
        : specifier,
    }));
    return [withoutExtension(join(folder, file)), imports];
  });
  return new Map(await Promise.all(found));
}

async function problemsOf({ folder, may, mayType }: Rule): Promise<string[]> {
  const except = RULES.map((rule) => rule.folder).filter((other) => isUnder(other, folder));
  const files = [...(await importsIn(folder))].filter(
    ([file]) => !except.some((other) => isUnder(file, other)),
  );
  return files.flatMap(([file, imports]) =>
    imports.flatMap(({ isType, specifier, target }) => {
      const allowed = [folder, ...may, ...(isType ? mayType : [])];
      const isFine = allowed.some((start) => target === start || isUnder(target, start));
      return isFine ? [] : [`${file} must not import ${isType ? "type " : ""}${specifier}`];
    }),
  );
}

function isUnder(target: string, start: string): boolean {
  if (start.endsWith("/*")) return dirname(target) === start.slice(0, -2);
  return target.startsWith(/[@:]$/.test(start) ? start : `${start}/`);
}

function isOfTRPC(target: string): boolean {
  return target.startsWith("@trpc/");
}

function withoutExtension(file: string): string {
  return file.replace(/\.(tsx?|jsx?)$/, "");
}

/** The names that a file imports from packages and uses with `instanceof`. */
async function foreignClassesIn(folder: string): Promise<string[]> {
  const files = [...(await importsIn(folder)).keys()];
  const found = files.map(async (file) => {
    const path = existsSync(join(ROOT, `${file}.ts`)) ? `${file}.ts` : `${file}.tsx`;
    const text = await readFile(join(ROOT, path), "utf8");
    const imported = [...text.matchAll(/^import\s([^;]*?)\sfrom\s"(?!\.|node:)[^"]+";/gm)];
    const names = new Set(imported.flatMap(([, list = ""]) => list.match(/\w+/g) ?? []));
    const compared = [...text.matchAll(/\binstanceof (\w+)/g)].map(([, name]) => name!);
    return compared
      .filter((name) => names.has(name))
      .map((name) => `${file} must not use instanceof ${name}`);
  });
  return (await Promise.all(found)).flat();
}

const graph = new Map<string, string[]>();
for (const folder of ["core", "server", "client", "cli", "testing"]) {
  for (const [file, imports] of await importsIn(folder)) {
    graph.set(
      file,
      imports.map(({ target }) => target),
    );
  }
}

/** The files that a file imports, themselves and through others, and the file itself. */
function reachedFrom(file: string, reached = new Set<string>()): Set<string> {
  if (!reached.has(file)) {
    reached.add(file);
    for (const target of graph.get(file) ?? []) reachedFrom(target, reached);
  }
  return reached;
}

const problems = (await Promise.all(RULES.map(problemsOf))).flat();
for (const folder of ["core", "server", "client", "testing"]) {
  problems.push(...(await foreignClassesIn(folder)));
}
for (const { name, source, peers } of ENTRY_POINTS) {
  if (peers.some(isOfTRPC)) continue;
  const reached = [...reachedFrom(withoutExtension(source))];
  const files = reached.filter((file) => graph.get(file)?.some(isOfTRPC));
  problems.push(...files.map((file) => `${name} must not reach ${file}, which imports tRPC`));
}
for (const cycle of findCycles(graph)) problems.push(`a circle: ${cycle.join(" -> ")}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
