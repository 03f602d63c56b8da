/** `init` in monorepos. `test/scaffolds` runs it in monorepos that scaffolders write. */
import { describe, expect, it } from "vitest";
import {
  type MonorepoOptions,
  monorepo,
  turboMonorepo,
  workersMonorepo,
} from "../../support/monorepo.js";
import { initIn, runInit } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";

const BY_HAND = /^By hand/m;

describe("init in a monorepo", () => {
  it.each(["", "packages/api", "packages/db", "apps/server", "apps/web", "packages/api/src"])(
    "writes the same, run in the folder %j, and nothing the second time",
    async (place) => {
      await using app = await makeFolder(monorepo());
      expect(await runInit(`${app.root}/${place}`)).not.toMatch(BY_HAND);
      const written = await app.readAll();
      expect(Object.keys(written)).toEqual(
        expect.arrayContaining([
          "packages/api/src/limits.ts",
          "packages/db/src/schema/rate-limit.ts",
        ]),
      );
      expect(await runInit(app.root)).toMatch(/^Nothing to change/);
      expect(await app.readAll()).toEqual(written);
    },
  );

  it("shows the diff of --dry-run, and writes nothing", async () => {
    await using app = await makeFolder(monorepo());
    const before = await app.readAll();
    const printed = await runInit(app.root, { dryRun: true });
    expect(printed).toContain("+++ b/apps/server/src/services.ts");
    expect(await app.readAll()).toEqual(before);
  });

  it("opens the store with the database that the server makes", async () => {
    await using app = await initIn(monorepo());
    const limits = await app.read("packages/api/src/limits.ts");
    expect(limits).toContain('import { rateLimits } from "@shop/db/schema/rate-limit";');
    expect(limits).toContain("export function keepLimitsIn(db: Database): void {");
    expect(limits).toContain("return drizzleStore(database, { table: rateLimits });");
    const services = await app.read("apps/server/src/services.ts");
    expect(services).toContain('import { keepLimitsIn } from "@shop/api/limits";');
    expect(services).toMatch(/^export const db = createDb\([^\n]*;\nkeepLimitsIn\(db\);\n$/m);
    const barrel = await app.read("packages/db/src/schema/index.ts");
    expect(barrel).toBe('export * from "./todo";\nexport * from "./rate-limit";\nexport {};\n');
  });

  it("adds the table to a schema that has none yet, for the database of its config", async () => {
    const files = monorepo();
    delete files["packages/db/src/schema/todo.ts"];
    files["packages/db/src/schema/index.ts"] = "export {};\n";
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read("packages/db/src/schema/rate-limit.ts")).toContain("= sqliteTable(");
    expect(await app.read("packages/db/src/schema/index.ts")).toBe(
      'export * from "./rate-limit";\nexport {};\n',
    );
    const limits = await app.read("packages/api/src/limits.ts");
    expect(limits).toContain("return drizzleStore(database, { table: rateLimits });");
    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
  });

  it("answers denials with Retry-After, in the package that serves tRPC", async () => {
    const handler = `import { appRouter } from "@shop/api/routers/index";
import { trpcServer } from "@hono/trpc-server";
import { createContext } from "./context";

app.use("/trpc/*", trpcServer({
  router: appRouter,
  createContext: (_opts, context) => createContext({ context }),
}));
`;
    await using app = await initIn({ ...monorepo(), "apps/server/src/index.ts": handler });
    expect(await app.read("apps/server/src/index.ts")).toContain(
      "  router: appRouter,\n  responseMeta: rateLimitResponseMeta,\n",
    );
    expect(await app.read("apps/server/package.json")).toContain('"trpc-rate-limit": "^1.2.3"');
    expect(app.printed).toContain(
      "doctor --app http://localhost:3000/trpc, in packages/api, while",
    );
  });

  it("takes the user of better-auth's session, whose table has a column userId", async () => {
    const files = monorepo({ session: true });
    files["packages/api/src/context.ts"] = files["packages/api/src/context.ts"]!.replace(
      "{ user: { id: string } } | null",
      "Session | null",
    );
    files["packages/db/src/relations.ts"] = "export const relation = r.session.userId;\n";
    files["apps/server/package.json"] = files["apps/server/package.json"]!.replace(
      '"hono"',
      '"better-auth": "*",\n    "hono"',
    );
    await using app = await makeFolder(files);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read("packages/api/src/index.ts")).toContain(
      "ctx.session?.user ? `user:${ctx.session.user.id}` : ipKey(ctx.address)",
    );
  });

  it("imports a client that the database's package exports", async () => {
    const db = `import { drizzle } from "drizzle-orm/libsql";\nexport const db = drizzle(process.env.URL!);\n`;
    await using app = await initIn(monorepo({ db }));
    const limits = await app.read("packages/api/src/limits.ts");
    expect(limits).toContain('import { db } from "@shop/db";');
    expect(limits).not.toContain("lazyStore");
  });

  it("adds a model to a folder of Prisma's schema", async () => {
    await using app = await initIn(monorepo({ orm: "prisma" }));
    expect(await app.read("packages/db/prisma/schema/rate-limit.prisma")).toContain(
      "model RateLimit {",
    );
    expect(await app.read("packages/api/src/limits.ts")).toContain(
      'return prismaStore(database, { pool: "own" });',
    );
    expect(app.printed).toContain(
      "2. npm run db:push (or npm run db:migrate)\n3. npm run db:generate\n",
    );
  });

  it("wires tRPC, the router and the client", async () => {
    await using app = await initIn(monorepo({ session: true }));
    const trpc = await app.read("packages/api/src/index.ts");
    expect(trpc).toContain("formatRateLimitError(shape, error, limiter)");
    expect(trpc).toContain(
      "ctx.session?.user ? `user:${ctx.session.user.id}` : ipKey(ctx.address)",
    );
    expect(await app.read("packages/api/src/routers/index.ts")).toContain(
      "export const appRouter = router({\n  rateLimit: rateLimitRouter,\n",
    );
    const client = await app.read("apps/web/src/utils/trpc.ts");
    expect(client).toContain("export const trpcClient = ");
    expect(client).toContain("rateLimitLink<AppRouter>({ limits: {} }),\n    splitLink({");
    expect(client).toContain("eventSourceOptions: { withCredentials: true },");
    const page = await app.read("apps/web/src/main.tsx");
    expect(page).toContain(
      'import { queryClient, RateLimitProvider, trpcClient } from "./utils/trpc";',
    );
    expect(page).toContain("<RateLimitProvider client={trpcClient}>{children}</RateLimitProvider>");
  });

  it.each<[NonNullable<MonorepoOptions["host"]>, string, string]>([
    ["hono", "apps/server", "{ connection: getConnInfo(context).remote.address }"],
    ["express", "apps/server", "address: req.ip,"],
    ["next", "apps/web", "address: clientAddress(req.headers),"],
    ["start", "apps/web", "clientAddress(req.headers, { connection: getRequestIP() }),"],
  ])("gives the context of %s the address of the caller", async (host, folder, text) => {
    await using app = await makeFolder(monorepo({ host }));
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read(`${folder}/src/context.ts`)).toContain(text);
    expect(await app.read("packages/api/src/context.ts")).toContain(
      "address?: string | undefined;",
    );
    const limits = await app.read("packages/api/src/limits.ts");
    expect(limits.includes("globalForLimiter")).toBe(host === "next");
  });

  it.each([
    ["bun", "package.json", '      "trpc-rate-limit": "^1.2.3",\n'],
    ["pnpm", "pnpm-workspace.yaml", "  trpc-rate-limit: ^1.2.3\n  zod: "],
  ] as const)("adds the package to the catalog of %s", async (packageManager, file, text) => {
    await using app = await initIn(monorepo({ packageManager }));
    expect(await app.read(file)).toContain(text);
    // The context of the server imports clientAddress.
    for (const folder of ["packages/api", "apps/server", "apps/web"]) {
      expect(await app.read(`${folder}/package.json`)).toContain('"trpc-rate-limit": "catalog:"');
    }
    expect(await app.read("packages/db/package.json")).not.toContain("trpc-rate-limit");
    expect(app.printed).toContain(
      `1. ${packageManager} install\n2. take @libsql/client 0.17.4 in place`,
    );
    expect(app.printed).toContain(`\n3. ${packageManager} run db:push`);
  });

  it("keeps the ends of lines", async () => {
    const files = Object.entries(monorepo()).map(([file, text]) => [
      file,
      text.replaceAll("\n", "\r\n"),
    ]);
    await using app = await makeFolder(Object.fromEntries(files) as Record<string, string>);
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    for (const [file] of files) {
      expect((await app.read(file!)).replaceAll("\r\n", "")).not.toContain("\n");
    }
  });

  it("prints the lines for a file that is written in another way, and for those that need it", async () => {
    await using app = await makeFolder({
      ...monorepo(),
      "packages/api/src/index.ts": `import { initTRPC } from "@trpc/server";
import type { Context } from "./context";
const make = () => initTRPC.context<Context>().create();
export const { router, procedure: publicProcedure } = make();
`,
    });
    const printed = await runInit(app.root);
    expect(printed).toContain(
      "By hand, in packages/api/src/index.ts (it has no place that is known)",
    );
    expect(printed).toContain("errorFormatter: ({ shape, error }) => formatRateLimitError(");
    expect(printed).toContain(
      "By hand, in packages/api/src/routers/index.ts (it comes after packages/api/src/index.ts)",
    );
    expect(await app.read("packages/api/src/routers/index.ts")).not.toContain("rateLimit");
  });

  it("wires Drizzle on D1, where each request makes its database, and nothing the second time", async () => {
    await using app = await makeFolder(workersMonorepo());
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    expect(await app.read("apps/server/src/services.ts"))
      .toContain(`export function getDb(): Database {
  const db = createDb(ENV);
  keepLimitsIn(db);
  return db;
}`);
    const limits = await app.read("packages/api/src/limits.ts");
    expect(limits).toContain("return drizzleStore(database, { table: rateLimits });");
    // It is refused on Workers without `waitUntil`.
    expect(limits).not.toContain("autoPrune");
    const context = await app.read("apps/server/src/context.ts");
    expect(context).toContain('import { getConnInfo } from "hono/cloudflare-workers";');
    // Cloudflare is the only proxy of a Worker.
    expect(context).not.toContain("clientAddress");
    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
  });

  it("refuses Prisma on D1", async () => {
    const db = `import { PrismaD1 } from "@prisma/adapter-d1";\nexport const createDb = (db: D1Database) => new PrismaClient({ adapter: new PrismaD1(db) });\n`;
    await using app = await makeFolder(monorepo({ orm: "prisma", db }));
    await expect(runInit(app.root)).rejects.toThrow("Prisma on Cloudflare D1");
  });

  it("keeps the limits of an application of its own in the database there, too", async () => {
    const db =
      'import { PrismaClient } from "./client";\nexport const prisma = new PrismaClient();\n';
    await using app = await makeFolder({
      ...monorepo({ orm: "prisma", db }),
      "apps/docs/package.json": `{\n  "name": "docs",\n  "dependencies": {\n    "next": "^16.0.0",\n    "typescript": "^6.0.3"\n  }\n}\n`,
    });
    await runInit(`${app.root}/apps/docs`);
    const limits = await app.read("apps/docs/server/limits.ts");
    expect(limits).toContain('import { prisma } from "@shop/db";');
    expect(await app.read("apps/docs/package.json")).toContain('"@shop/db": "*",');
    expect(await app.read("packages/api/package.json")).not.toContain("trpc-rate-limit");
  });

  it("prints the limits of an application that no client of the database is handed to", async () => {
    await using app = await makeFolder({
      ...monorepo(),
      "apps/docs/package.json": `{\n  "name": "docs",\n  "dependencies": {\n    "next": "^16.0.0"\n  }\n}\n`,
    });
    const printed = await runInit(`${app.root}/apps/docs`);
    expect(printed).toMatch(
      /By hand, in packages\/db\/src\/index\.ts .*\n\n {4}export const db = createDb\(…\);/,
    );
    expect(printed).toContain("By hand, in apps/docs/server/limits.mjs (it comes after");
    expect(printed).not.toContain("memoryStore");
  });
});

describe("init in a monorepo of create-t3-turbo's shape", () => {
  it("wires it, and changes nothing the second time", async () => {
    await using app = await makeFolder(turboMonorepo());
    expect(await runInit(app.root)).not.toMatch(BY_HAND);
    const limits = await app.read("packages/api/src/limits.ts");
    expect(limits).toContain('import { db } from "@acme/db/client";');
    expect(limits).toContain('import { rateLimits } from "@acme/db/schema";');
    const trpc = await app.read("packages/api/src/trpc.ts");
    expect(trpc).toContain("    address: clientAddress(opts.headers),\n    db,");
    expect(trpc).toContain(`  errorFormatter: ({ shape, error }) =>
    formatRateLimitError(
      {
        ...shape,
        data: {`);
    const client = await app.read("apps/nextjs/src/trpc/react.tsx");
    expect(client).toContain(
      "<RateLimitProvider client={trpcClient}>\n          {props.children}\n        </RateLimitProvider>",
    );
    expect(client).toContain("transformer: SuperJSON,\n            url:");
    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
  });
});
