/** The entry points in the order of the reference's first page: what each has, and its pages. */
import { CLIENT } from "./client.js";
import { CORE } from "./core.js";
import { REACT } from "./react.js";
import { SERVER } from "./server.js";
import { TRPC } from "./trpc.js";

/**
 * The page docs/reference.md says the same `about`. The `sections` have pages in the order in which a
 * newcomer needs them. A page is
 *
 * - a name, or `{ main, types }`: an exported function or class;
 * - `{ title, of, members }`: members of an interface, or of what a function returns;
 * - `{ title, types }`: types that several pages need. Without `about`, the page begins with the first one.
 *
 * A type that no page names stands on the first page that needs it.
 */
export const LAYOUT = {
  server: { about: "The limiter, its stores, HTTP and better-auth", sections: SERVER },
  trpc: { about: "The middleware, the router and the errors of tRPC", sections: TRPC },
  react: { about: "Hooks and components", sections: REACT },
  "trpc-rate-limit": {
    about: "The options of limits, results, errors, and the arithmetic",
    sections: CORE,
  },
  client: {
    about: "Links and retries of tRPC, and the observer, without React",
    sections: CLIENT,
  },
  testing: {
    about: "A clock, limits without a server, and the tests of stores",
    sections: { "In tests": ["createManualClock", "createFakeRateLimits", "describeStore"] },
  },
  drizzle: { about: "`drizzleStore`", sections: { Stores: ["drizzleStore"] } },
  kysely: {
    about: "`kyselyStore`",
    sections: {
      Stores: [{ main: "kyselyStore", types: ["RateLimitTable", "RateLimitOverrideTable"] }],
    },
  },
  redis: {
    about: "`redisStore` and `redisChannel`",
    sections: { "On the server": ["redisStore", "redisChannel"] },
  },
  hono: {
    about: "Middleware for the routes of Hono",
    sections: { "On the server": ["createRateLimitHono"] },
  },
  ai: {
    about: "Middleware for models of the AI SDK, and header fields of providers",
    sections: { "On the server": ["limitModel", "rateLimitErrorOf", "rateLimitOfHeaders"] },
  },
  otel: {
    about: "Metrics for OpenTelemetry",
    sections: { "On the server": ["rateLimitMetrics"] },
  },
  countdown: { about: "The countdown, without tRPC and TanStack Query", sections: {} },
  admin: {
    about: "The control room, for the people who help users",
    sections: { "A component": ["RateLimitAdmin"] },
  },
  devtools: {
    about: "A panel for TanStack Devtools",
    sections: { "A plugin": ["rateLimitDevtools"] },
  },
};
