/** Applications without tRPC, whose handlers are printed: their key is nothing that visitors send. */
import { packageJson } from "../trpc-applications.js";
import { bunPackage, POOL, WITH_ALIAS } from "./parts.js";
import type { Shape } from "./shape.js";

/**
 * A line of code that takes an entry of the header, or this machine for all who send none. Without a
 * proxy, another header at each call is another visitor.
 */
const FORWARDED = /^(?!\s*\/\/).*x-forwarded-for.*(?:at\(-1\)|\[0\]|\?\? ["'])/m;

export const NEXT_HANDLER: Shape = {
  name: "handlers of Next",
  files: {
    "package.json": packageJson("next", "pg", "react"),
    "tsconfig.json": WITH_ALIAS,
    "src/lib/db.ts": POOL,
    "src/app/api/parcels/route.ts": `import { pool } from "@/lib/db";

export async function POST(request: Request) {
  const { id } = await request.json();
  await pool.query("INSERT INTO parcels VALUES ($1)", [id]);
  return Response.json({ id });
}
`,
  },
  right: {
    written: { "src/server/limits.ts": ["pgStore(pool)"] },
    printed: ["limiter.limit(", "rateLimitResponse(error)"],
    never: [FORWARDED],
  },
};

const HONO_SERVER = (listen: string) => `import { Hono } from "hono";
import { pool } from "./db";
${listen}`;

export const HONO_HANDLERS: readonly Shape[] = [
  {
    name: "handlers of Hono on Node.js",
    files: {
      "package.json": packageJson("@hono/node-server", "hono", "pg"),
      "tsconfig.json": WITH_ALIAS,
      "src/db.ts": POOL,
      "src/index.ts": HONO_SERVER(`import { serve } from "@hono/node-server";

const app = new Hono();
app.post("/parcels", async (c) => c.json(await pool.query("SELECT 1")));
serve({ fetch: app.fetch, port: 3000 });
`),
    },
    right: {
      printed: [
        "createRateLimitHono(",
        `rateLimited("createPost")`,
        "@hono/node-server/conninfo",
        "getConnInfo(c).remote.address",
      ],
      never: [FORWARDED, "hono/bun"],
    },
  },
  {
    name: "handlers of Hono on Bun",
    files: {
      "package.json": bunPackage({ hono: "^4.12.0", pg: "^8.16.0" }),
      "tsconfig.json": WITH_ALIAS,
      "src/db.ts": POOL,
      "src/index.ts": HONO_SERVER(`
const app = new Hono();
app.post("/parcels", async (c) => c.json(await pool.query("SELECT 1")));
export default { port: 3000, fetch: app.fetch };
`),
    },
    right: {
      printed: ["createRateLimitHono(", `from "hono/bun"`, "getConnInfo(c).remote.address"],
      never: [FORWARDED, "@hono/node-server"],
    },
  },
];
