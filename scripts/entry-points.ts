/**
 * Describes the entry points. `package.json` names the entry points and their files; this list adds the
 * rest. The reference, the rules of imports, the tests and the lists on pages use both.
 */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { CLIENT } from "./reference/layout/client.js";
import { CORE } from "./reference/layout/core.js";
import { REACT } from "./reference/layout/react.js";
import { FETCH, FETCH_REACT } from "./reference/layout/fetch.js";
import type { Sections } from "./reference/layout/sections.js";
import { SERVER } from "./reference/layout/server.js";
import { TRPC } from "./reference/layout/trpc.js";

interface Description {
  /** The content of the entry point, in words for the reference, docs/reference.md and llms.txt. */
  about: string;
  /** The packages without which the entry point does not load, or has no types. */
  peers: readonly string[];
  /** The pages of the reference. */
  sections: Sections;
}

/** The descriptions, in the order of the first page of the reference. */
export const DESCRIPTIONS: Record<string, Description> = {
  server: { about: "The limiter, its stores, HTTP and better-auth", peers: [], sections: SERVER },
  trpc: {
    about: "The middleware, the router and the errors of tRPC",
    peers: ["@trpc/server", "zod"],
    sections: TRPC,
  },
  react: {
    about: "Hooks and components",
    peers: ["@tanstack/react-query", "@trpc/client", "@trpc/server", "react"],
    sections: REACT,
  },
  "trpc-rate-limit": {
    about: "The options of limits, results, errors, and the arithmetic",
    peers: [],
    sections: CORE,
  },
  client: {
    about: "Links and retries of tRPC, and the observer, without React",
    peers: ["@trpc/client", "@trpc/server"],
    sections: CLIENT,
  },
  fetch: {
    about: "The observer and limits of `fetch`, without tRPC and without React",
    peers: [],
    sections: FETCH,
  },
  "fetch/react": {
    about: "Hooks and components, without tRPC",
    peers: ["@tanstack/react-query", "react"],
    sections: FETCH_REACT,
  },
  testing: {
    about: "A clock, limits without a server, and the tests of stores",
    peers: [],
    sections: { "In tests": ["createManualClock", "createFakeRateLimits", "describeStore"] },
  },
  drizzle: { about: "`drizzleStore`", peers: [], sections: { Stores: ["drizzleStore"] } },
  kysely: {
    about: "`kyselyStore`",
    peers: ["kysely"],
    sections: {
      Stores: [{ main: "kyselyStore", types: ["RateLimitTable", "RateLimitOverrideTable"] }],
    },
  },
  redis: {
    about: "`redisStore` and `redisChannel`",
    peers: [],
    sections: { "On the server": ["redisStore", "redisChannel"] },
  },
  hono: {
    about: "Middleware for the routes of Hono",
    peers: ["hono"],
    sections: { "On the server": ["createRateLimitHono"] },
  },
  express: {
    about: "Middleware for the routes of Express",
    peers: [],
    sections: { "On the server": ["createRateLimitExpress"] },
  },
  ai: {
    about: "Middleware for models of the AI SDK, and header fields of providers",
    peers: [],
    sections: { "On the server": ["limitModel", "rateLimitErrorOf", "rateLimitOfHeaders"] },
  },
  otel: {
    about: "Metrics for OpenTelemetry",
    peers: ["@opentelemetry/api"],
    sections: { "On the server": ["rateLimitMetrics"] },
  },
  countdown: {
    about: "The countdown, without tRPC and TanStack Query",
    peers: ["react"],
    sections: {},
  },
  admin: {
    about: "The control room, for the people who help users",
    peers: ["@trpc/client", "@trpc/server", "react"],
    sections: { "A component": ["RateLimitAdmin"] },
  },
  devtools: {
    about: "A panel for TanStack Devtools",
    peers: ["@trpc/client", "@trpc/server", "react"],
    sections: { "A plugin": ["rateLimitDevtools"] },
  },
};

interface EntryPoint extends Description {
  /** The key in `DESCRIPTIONS`: `hono`. */
  name: string;
  /** The specifier that users import: `trpc-rate-limit/hono`. */
  specifier: string;
  /** The file of the declarations, in `dist`. */
  types: string;
  /** The file in the repository: `server/hono/index.ts`. */
  source: string;
}

const { name: packageName, exports } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { name: string; exports: Record<string, string | { types: string }> };

/** The entry points with code, in the order of package.json. */
export const ENTRY_POINTS = Object.entries(exports).flatMap(([path, target]): EntryPoint[] => {
  if (typeof target === "string" || path.endsWith(".css")) return [];
  const name = path === "." ? packageName : path.slice("./".length);
  const description = DESCRIPTIONS[name];
  if (description === undefined) {
    throw new Error(
      `scripts/entry-points.ts does not describe ${name}, which package.json exports`,
    );
  }
  const types = posix.normalize(target.types);
  const source = types.replace(/^dist\//, "").replace(/\.d\.ts$/, ".ts");
  return [{ ...description, name, specifier: posix.join(packageName, path), types, source }];
});
