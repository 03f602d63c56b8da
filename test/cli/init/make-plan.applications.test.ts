/** `init` in applications with tRPC that were not scaffolded: the caller, the handler, the client. */
import { describe, expect, it } from "vitest";
import { initIn, runInit } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";
import {
  application,
  EXPRESS,
  type Files,
  HOSTS,
  packageJson,
} from "../../support/trpc-applications.js";

const BY_HAND = /^By hand/m;
describe("an application with tRPC", () => {
  it.each(HOSTS)("on $host is wired whole, once", async ({ options, context, server, url }) => {
    await using app = await initIn(application(options));
    expect(app.printed).not.toMatch(BY_HAND);
    const made = await app.read("src/context.ts");
    for (const text of context) expect(made).toContain(text);
    expect(await app.read("src/server.ts")).toContain(server);
    expect(await app.read("src/trpc.ts")).toContain("key: ({ ctx }) => ipKey(ctx.address),");
    expect(await app.read("src/router.ts")).toContain(
      "t.router({ rateLimit: rateLimitRouter, hello:",
    );
    expect(await app.read("src/client.tsx")).toContain(
      "<RateLimitProvider client={client}>hello</RateLimitProvider>",
    );
    // The router of the limits parses its input with it.
    expect(await app.read("package.json")).toContain('"zod": "^4.0.0"');
    expect(app.printed).toContain(`doctor --app ${url},`);
    const written = await app.readAll();
    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
    expect(await app.readAll()).toEqual(written);
  });

  it.each([
    ["userId: userIdOf(req)", "", "ctx.userId ? `user:${ctx.userId}`"],
    ["user: userOf(req)", "", "ctx.user ? `user:${ctx.user.id}`"],
    ["session", "ctx.session?.user.id", "ctx.session?.user ? `user:${ctx.session.user.id}`"],
    ["session", "ctx.session?.userId", "ctx.session?.userId ? `user:${ctx.session.userId}`"],
    ["auth: getAuth(req)", "ctx.auth.userId", "ctx.auth?.userId ? `user:${ctx.auth.userId}`"],
    ["ip: req.ip", "", "=> ipKey(ctx.ip)"],
  ])("whose context has %s, which it reads as %j, has the key %s", async (field, read, key) => {
    const context = EXPRESS.context
      .replace("return { pool }", `return { ${field}, pool }`)
      .replace("{ res }:", "{ req, res }:");
    const more = { "src/posts.ts": `export const who = (ctx) => ${read || "ctx"};\n` };
    await using app = await makeFolder(application({ ...EXPRESS, context, more }));
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect((await app.read("src/trpc.ts")).replace(/\n\s+/g, " ")).toContain(key);
  });

  it("whose context has a type of its own gets the address in both", async () => {
    const context = `import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";
import { pool } from "./db";

export interface Context {
  pool: typeof pool;
}

export const createTRPCContext = async (_opts: CreateExpressContextOptions): Promise<Context> => ({
  pool,
});
`;
    const more = { "src/a.ts": "export interface Context {\n  other: string;\n}\n" };
    await using app = await makeFolder(application({ ...EXPRESS, context, more }));
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    const made = await app.read("src/context.ts");
    expect(made).toContain("  address?: string | undefined;\n  pool: typeof pool;");
    expect(made).toContain("async ({ req }: CreateExpressContextOptions)");
    expect(made).toContain("=> ({\n  address: req.ip,\n  pool,");
    expect(await app.read("src/a.ts")).toBe(more["src/a.ts"]);
  });

  it.each([
    ["createContext: ({ res }) => ({ pool })", "({ req, res }) => ({ address: req.ip, pool })"],
    ["createContext: () => ({ pool })", "({ req }) => ({ address: req.ip, pool })"],
    ["createContext(opts) { return { pool } }", "return { address: opts.req.ip, pool }"],
  ])("whose context is made in its handler by %s gets the address there", async (made, text) => {
    const files = application(EXPRESS);
    delete files["src/context.ts"];
    files["src/server.ts"] = files["src/server.ts"]!.replace(
      "createContext })",
      `${made} })`,
    ).replace('import { createContext } from "./context"', 'import { pool } from "./db"');
    files["src/trpc.ts"] = files["src/trpc.ts"]!.replace("<Context>", "<{ pool: Pool }>").replace(
      'import type { Context } from "./context"',
      'import type { Pool } from "pg"',
    );
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read("src/server.ts")).toContain(text);
    expect(await app.read("src/trpc.ts")).toContain(
      ".context<{ address?: string | undefined; pool: Pool }>()",
    );
  });

  it("keeps what its templates say, in a place that moves to the right", async () => {
    const files = application(EXPRESS);
    const said = "`one\n  two ${name}\n`";
    files["src/client.tsx"] = files["src/client.tsx"]!.replace(
      '{ url: "/trpc" }',
      `{\n  url: "/trpc",\n  fetch: () => fetch(${said}),\n}`,
    );
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read("src/client.tsx")).toContain(`\n    fetch: () => fetch(${said}),\n`);
  });

  it("that subscribes already keeps its link for that", async () => {
    const files = application(EXPRESS);
    const links = `links: [splitLink({ condition, true: httpSubscriptionLink({ url: "/trpc" }), false: httpBatchLink({ url: "/trpc" }) })]`;
    files["src/client.tsx"] = files["src/client.tsx"]!.replace(/links: \[.*?\)\]/, links).replace(
      "{ createTRPCClient,",
      "{ createTRPCClient, httpSubscriptionLink, splitLink,",
    );
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    const client = await app.read("src/client.tsx");
    expect(client.match(/splitLink\(/g)).toHaveLength(1);
    expect(client).toMatch(/rateLimitLink<AppRouter>\(\{ limits: \{\} \}\),\s+splitLink\(/);
  });

  it("in React Native polls, and gets nothing that renders HTML", async () => {
    const files = application({ ...EXPRESS, packages: ["express", "expo", "react-native"] });
    await using app = await initIn(files);
    expect(app.printed).not.toMatch(BY_HAND);
    expect(app.printed).toContain("React Native has no EventSource, so its pages poll");
    const client = await app.read("src/client.tsx");
    expect(client).toContain('<RateLimitProvider client={client} live="poll">');
    expect(client).not.toMatch(/splitLink|httpSubscriptionLink|RateLimitCountdown/);
    expect(app.printed).toContain("const seconds = useCountdown(status?.retryAt);");
  });

  it("whose answers have fields of its own is told the line", async () => {
    const server = EXPRESS.server.replace(
      "appRouter, createContext }",
      "appRouter, createContext, responseMeta: () => ({ headers }) }",
    );
    await using app = await initIn(application({ ...EXPRESS, server }));
    expect(app.printed).toMatch(/^By hand, in src\/server\.ts/m);
    expect(await app.read("src/server.ts")).toBe(server);
  });

  it("whose context is made in an unknown way is told all that the address needs", async () => {
    const context = `import { pool } from "./db";

export type Context = {
  pool: typeof pool;
};

export const createContext = wrap((headers: Headers) => make({ pool, headers }));
`;
    await using app = await initIn(application({ ...EXPRESS, context }));
    expect(await app.read("src/context.ts")).toContain("address?: string | undefined;");
    const lines = app.printed.slice(app.printed.indexOf("By hand")).replace(/^ {4}/gm, "");
    expect(lines).toContain('import { clientAddress } from "trpc-rate-limit/server";');
    expect(lines).toContain("address: clientAddress(headers),");
  });

  it("whose tRPC has no context is told the lines for one", async () => {
    const files = application(EXPRESS);
    files["src/trpc.ts"] = files["src/trpc.ts"]!.replace(".context<Context>()", "");
    await using app = await initIn(files);
    expect(app.printed).toContain("By hand, in src/trpc.ts (its context does not say who calls):");
    expect(app.printed).toContain("initTRPC.context<{ address: string | undefined }>()");
    expect(await app.read("src/trpc.ts")).toBe(files["src/trpc.ts"]);
  });
});

describe("a database client", () => {
  const drizzle = (db: string): Files => ({
    ...application(EXPRESS),
    "package.json": packageJson("@trpc/client", "@trpc/server", "drizzle-orm", "express", "react"),
    "drizzle.config.ts": `export default { schema: "./src/schema.ts", dialect: "postgresql" };\n`,
    "src/schema.ts": "export {};\n",
    "src/db.ts": db,
  });

  it("that a function gives is opened with the first call", async () => {
    await using app = await makeFolder(
      drizzle(`import { drizzle } from "drizzle-orm/node-postgres";
let db: ReturnType<typeof drizzle> | undefined;
export const getDb = () => (db ??= drizzle(process.env.DATABASE_URL!));
`),
    );
    await runInit(app.root);
    const limits = await app.read("src/limits.ts");
    expect(limits).toContain(
      "store: lazyStore(() => drizzleStore(getDb(), { table: rateLimits })),",
    );
    expect(limits).toContain('import { getDb } from "./db";');
    // The schema imports nothing that says which database it is for, and the config does.
    expect(await app.read("src/schema.ts")).toContain("export const rateLimits = pgTable(");
  });

  it("that is awaited is handed to the limits where it is made", async () => {
    const files = drizzle(`import { drizzle } from "drizzle-orm/node-postgres";
export async function connect() {
  return drizzle(await secretUrl());
}
`);
    files["src/server.ts"] = files["src/server.ts"]!.replace(
      "const app = express();",
      "export const db = await connect();\nconst app = express();",
    ).replace(
      "import { createContext }",
      'import { connect } from "./db";\nimport { createContext }',
    );
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    const limits = await app.read("src/limits.ts");
    expect(limits).toContain(
      "export function keepLimitsIn(db: Awaited<ReturnType<typeof connect>>): void {",
    );
    expect(await app.read("src/server.ts")).toContain(
      "export const db = await connect();\nkeepLimitsIn(db);\n",
    );
  });
});

describe("the adapter of Prisma", () => {
  const prisma = (db: string, range = "^7.0.0"): Files => ({
    "package.json": packageJson("@prisma/client", "express").replace(
      '"@prisma/client"',
      `"@prisma/adapter-pg": "${range}",\n    "@prisma/client"`,
    ),
    "tsconfig.json": "{}\n",
    "prisma/schema.prisma": `datasource db {\n  provider = "postgresql"\n}\n`,
    "src/db.ts": `import { PrismaPg } from "@prisma/adapter-pg";\nimport { PrismaClient } from "./generated/client";\n\n${db}`,
  });

  const client = (settings: string) =>
    prisma(`const adapter = new PrismaPg(${settings});
export const prisma = new PrismaClient({ adapter });
`);

  it("stays as it is, and the limits get a pool with the same settings", async () => {
    const files = client("{ connectionString: process.env.DATABASE_URL }");
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read("src/limits.ts")).toContain('prismaStore(prisma, { pool: "own" })');
    expect(await app.read("src/db.ts")).toBe(files["src/db.ts"]);
    expect(await app.read("package.json")).not.toContain('"pg"');
    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
  });

  it("gets one, too, if the client is made in a function", async () => {
    await using app = await makeFolder(
      prisma(`const make = (url: string) => new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
export const prisma = make("postgresql://localhost/app");
`),
    );
    await runInit(app.root);
    expect(await app.read("src/limits.ts")).toContain('prismaStore(prisma, { pool: "own" })');
  });

  it.each([
    ["has a pool of the application", client("pool")],
    ["is not the only one", client("{ connectionString: a }"), "new PrismaPg({});"],
    ["is older than 6.16.1", client("{ connectionString: a }"), "", "^6.6.0"],
  ])("gets none if the adapter %s", async (_, files, more = "", range = "^7.0.0") => {
    await using app = await initIn({
      ...files,
      "src/db.ts": files["src/db.ts"]! + more,
      "package.json": files["package.json"]!.replace("^7.0.0", range),
    });
    expect(await app.read("src/limits.ts")).toContain("prismaStore(prisma)");
  });
});
