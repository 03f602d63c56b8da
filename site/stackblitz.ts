/**
 * Small applications that a reader opens in an editor in the browser: those of the guides that run in a
 * WebContainer of StackBlitz. It has Node.js, but no database server, no native module and no TCP. So a
 * guide is here only if its code runs in memory.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathOf } from "./code-blocks.js";
import { partsOf } from "./fences.js";
import { ROOT } from "./pages.js";

export interface Project {
  /** The name of the page of the site that sends it. */
  name: string;
  title: string;
  /** The texts of the files by their paths. */
  files: Readonly<Record<string, string>>;
  /** The file that the editor shows first. */
  shown: string;
}

/** The version in package.json before the first release: npm has no package to install. */
const UNRELEASED = "0.0.0";
const TESTING = "docs/guides/testing-an-application.md";
const EXPRESS = "docs/guides/express.md";

/** The projects by the pages that offer them. None before the first release. */
export function projectsOf(version: string): ReadonlyMap<string, Project> {
  if (version === UNRELEASED) return new Map();
  const starter = starterOf(version);
  return new Map([
    ["README.md", starter],
    ["docs/guides/vite.md", starter],
    [TESTING, testingOf(version)],
    [EXPRESS, expressOf(version)],
    ...["oRPC", "Elysia", "NestJS"].map(
      (host) => [`docs/guides/${host.toLowerCase()}.md`, hostOf(host, version)] as const,
    ),
  ]);
}

function starterOf(version: string): Project {
  const files = filesIn("site/starter");
  return {
    name: "quick-start",
    title: "A limit, from the server to the button",
    files: {
      ...files,
      "package.json": files["package.json"]!.replace('"latest"', JSON.stringify(`^${version}`)),
    },
    shown: "server/router.ts",
  };
}

/** The tests replace the limiter on the database, so they load no client. */
function testingOf(version: string): Project {
  return {
    name: "testing",
    title: "Tests of a limited procedure",
    files: {
      ...blocksIn(TESTING),
      "server/prisma.ts": `throw new Error("A test has loaded the client of the database.");\nexport const prisma = undefined as never;\n`,
      "package.json": packageOf(version, "vitest", {
        "@trpc/server": "^11.4.0",
        vite: "^7.0.0",
        vitest: "^3.2.0",
      }),
    },
    shown: "test/router.test.ts",
  };
}

/** The server of the guide, in memory. */
function expressOf(version: string): Project {
  const { "express/server.ts": server = "" } = blocksIn(EXPRESS);
  const inMemory = server
    .replace('import pg from "pg";\n', "")
    .replace(/^const pool = .*\npool\..*\n\n/m, "")
    .replace("MINUTE, pgStore", "memoryStore, MINUTE")
    .replace(
      "  store: pgStore(pool),",
      "  // In the guide: pgStore(pool).\n  store: memoryStore(),",
    );
  return {
    name: "express",
    title: "Express: three requests pass, and the fourth is denied",
    files: {
      "express/server.ts": inMemory,
      "four-requests.ts": requestsTo("./express/server.js", "/messages"),
      "package.json": packageOf(version, "tsx four-requests.ts", {
        express: "^5.0.0",
        tsx: "^4.0.0",
      }),
    },
    shown: "express/server.ts",
  };
}

/** The packages of a host, and the file that listens where the guide has none. */
const HOSTS: Record<string, { packages: Record<string, string>; served?: string; path: string }> = {
  oRPC: {
    packages: { "@hono/node-server": "^2.0.0", "@orpc/server": "^1.16.0" },
    served: `import { serve as fetch } from "./serve.js"`,
    path: "/rpc/sendMessage",
  },
  Elysia: {
    packages: { "@hono/node-server": "^2.0.0", elysia: "^1.4.0" },
    served: `import { app } from "./app.js";\n\nconst { fetch } = app`,
    path: "/messages",
  },
  NestJS: {
    packages: {
      "@nestjs/common": "^12.0.0",
      "@nestjs/core": "^12.0.0",
      "@nestjs/platform-express": "^12.0.0",
      "reflect-metadata": "^0.2.0",
      rxjs: "^7.8.0",
    },
    path: "/messages",
  },
};

/** The server that the tests run with the code of the guide. */
function hostOf(host: string, version: string): Project {
  const { packages, served, path } = HOSTS[host]!;
  const name = host.toLowerCase();
  const main = served && {
    "server/main.ts": `import { serve } from "@hono/node-server";\n${served};\n\nserve({ fetch, port: 3000 });\n`,
  };
  const server = Object.entries(filesIn(`test/hosts/guides/${name}/server`));
  return {
    name,
    title: `${host}: three calls pass, and the fourth is denied`,
    files: {
      ...Object.fromEntries(server.map(([file, text]) => [`server/${file}`, text])),
      ...main,
      "four-requests.ts": requestsTo("./server/main.js", path),
      // The decorators of NestJS are those of TypeScript, from before the standard.
      "tsconfig.json": `{ "compilerOptions": { "module": "nodenext", "experimentalDecorators": true } }\n`,
      "package.json": packageOf(version, "tsx four-requests.ts", { ...packages, tsx: "^4.0.0" }),
    },
    shown: "four-requests.ts",
  };
}

/** A program that starts a server and calls it, so that its limit is seen at once. */
const requestsTo = (server: string, path: string) => `import "${server}";

async function send(): Promise<Response> {
  try {
    return await fetch("http://localhost:3000${path}", { method: "POST" });
  } catch {
    // The server does not listen yet.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return send();
  }
}

for (let i = 0; i < 4; i++) {
  const response = await send();
  console.log(response.status, await response.text(), response.headers.get("retry-after") ?? "");
}
`;

function packageOf(version: string, dev: string, packages: Record<string, string>): string {
  const dependencies = { ...packages, "trpc-rate-limit": `^${version}` };
  const content = { private: true, type: "module", scripts: { dev }, dependencies };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** The files of a folder of the repository. */
function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  const files = paths.filter(
    (path) => !path.includes("node_modules") && statSync(join(ROOT, folder, path)).isFile(),
  );
  return Object.fromEntries(
    files.map((path) => [path, readFileSync(join(ROOT, folder, path), "utf8")]),
  );
}

/** The blocks of a page that are files in TypeScript. */
function blocksIn(page: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const part of partsOf(readFileSync(join(ROOT, page), "utf8"))) {
    const path = typeof part === "string" ? undefined : pathOf(part);
    // The first line has the path.
    if (typeof part !== "string" && path?.endsWith(".ts"))
      files[path] = `${part.lines.slice(1).join("\n")}\n`;
  }
  return files;
}
