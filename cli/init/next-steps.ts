/** What the author of an application does after `init`: the steps, with their lines. */
import { envFileToLoad } from "../doctor/database-url.js";
import { commandOf } from "../table-sql.js";
import type { DialectName } from "../../server/store/sql/driver.js";
import { indented } from "./anchors.js";
import { type Application, findSource, T3_FILES } from "./application.js";
import { inStyle } from "./code-style.js";
import { specifierOf } from "./import-style.js";
import { importText } from "./import-text.js";
import { collationSql } from "./prisma-schema.js";

/** @param ending of the step before it, which has a colon. */
function withLines({ style }: Application, step: string, code: string): string {
  return `${step}:\n\n${indented(inStyle(code, style), "  ")}\n`;
}

/** How the tables of an application get to its database. */
export function migrationStep(app: Application, otherwise: string): string {
  const run = (script: string) => `${app.packageManager} run ${script}`;
  const migrate = app.scripts.has("db:generate") ? run("db:generate") : otherwise;
  return app.scripts.has("db:push") ? `${migrate} (or ${run("db:push")})` : migrate;
}

export async function sqlStep(
  { root }: Application,
  dialect: DialectName,
  file: string,
): Promise<string> {
  // A migration in code is run by the tool of the application.
  if (!file.endsWith(".sql")) return `run the migration ${file}`;
  return `make the table: ${commandOf(dialect, file, await envFileToLoad(root))}`;
}

/** Prisma's schema language has no collations. */
export function mysqlStep(table: string): string {
  return (
    "npx prisma migrate dev --create-only --name rate-limit, put these lines at the end of the " +
    "migration, and run npx prisma migrate dev. Otherwise the keys ann and Ann are one bucket. " +
    `(After a db push, run them in the database.)\n\n${collationSql(table)}\n`
  );
}

/** Where the limits are used, and where they are seen. */
export async function usageSteps(app: Application, limitsFile: string): Promise<string[]> {
  if (app.kind === "other") return httpSteps(app, limitsFile);
  return [app.kind === "t3" ? t3Procedure(app) : procedure(app), countdown(app)];
}

function t3Procedure(app: Application): string {
  const trpc = `${app.imports.alias?.prefix ?? "~/"}server/api/trpc`;
  const names = ["createTRPCRouter", "publicProcedure", "rateLimited"];
  return withLines(
    app,
    `limit a procedure, such as one in src/server/api/routers/post.ts, and name it to the link in ${T3_FILES.react}`,
    `${importText(trpc, names)}

create: publicProcedure
  .input(z.object({ name: z.string().min(1) }))
  .use(rateLimited("createPost")) // after the input, so that invalid input costs nothing
  .mutation(…),

rateLimitLink<AppRouter>({ limits: { "post.create": "createPost" } }),`,
  );
}

function procedure(app: Application): string {
  return withLines(
    app,
    `limit a procedure, with rateLimited of ${app.trpcFile!}`,
    `createPost: t.procedure
  .input(…)
  .use(rateLimited("createPost")) // after the input, so that invalid input costs nothing
  .mutation(…),`,
  );
}

function countdown(app: Application): string {
  if (app.kind !== "t3" && !app.packages.has("react")) {
    return "show the countdown in the client: docs/react.md of trpc-rate-limit, or docs/without-react.md";
  }
  const from =
    app.kind === "t3"
      ? `${importText(`${app.imports.alias?.prefix ?? "~/"}trpc/react`, ["RateLimitCountdown", "useRateLimit"])}\n\n`
      : "";
  return withLines(
    app,
    app.kind === "t3"
      ? "show the countdown in a component, such as src/app/_components/post.tsx, beside what its button says already"
      : "show the countdown in a component",
    `${from}${COUNTDOWN}`,
  );
}

/** What a component shows, with its imports before it. */
export const COUNTDOWN = `const { status } = useRateLimit("createPost");

<button disabled={status?.ok === false}>
  {status?.ok === false ? (
    <>
      Wait <RateLimitCountdown retryAt={status.retryAt} />
    </>
  ) : (
    "Send"
  )}
</button>`;

const KEY = "or the id of the user; see docs/visitors.md of trpc-rate-limit";

const CHARGE = `const result = await limiter.limit("createPost", { key, throws: true });`;
const FIELDS = `rateLimitHeaders(result, { limiter, name: "createPost", key })`;

/** As docs/http.md has them. */
const HANDLERS: Record<"express" | "hono" | "fastify" | "response", (isTyped: boolean) => string> =
  {
    express: (isTyped) => `app.post("/posts", async (req, res) => {
  const key = ipKey(req.ip); // ${KEY}
  ${CHARGE}
  res.set(${FIELDS});
  res.json(…);
});

// After the routes. Express 5 waits for async handlers.
app.use(async (${isTyped ? "error: unknown, _req: Request, res: Response, _next: NextFunction" : "error, _req, res, _next"}) => {
  const response = rateLimitResponse(error);
  res.status(response.status).set(Object.fromEntries(response.headers));
  res.send(await response.text());
});`,
    hono: () => `app.post("/posts", async (c) => {
  const address = c.req.header("x-forwarded-for")?.split(",").at(-1);
  const key = ipKey(address); // ${KEY}
  ${CHARGE}
  return c.json(…, 200, ${FIELDS});
});

app.onError((error) =>
  error instanceof HTTPException ? error.getResponse() : rateLimitResponse(error),
);`,
    fastify: () => `app.post("/posts", async (request, reply) => {
  const key = ipKey(request.ip); // ${KEY}
  ${CHARGE}
  reply.headers(${FIELDS});
  return …;
});

app.setErrorHandler((error, _request, reply) => reply.send(rateLimitResponse(error)));`,
    response: (isTyped) => `export async function POST(request${isTyped ? ": Request" : ""}) {
  try {
    const address = request.headers.get("x-forwarded-for")?.split(",").at(-1);
    const key = ipKey(address); // ${KEY}
    ${CHARGE}
    return Response.json(…, { headers: ${FIELDS} });
  } catch (error) {
    return rateLimitResponse(error);
  }
}`,
  };

const MORE_IMPORTS: Partial<Record<keyof typeof HANDLERS, string>> = {
  express: `import type { NextFunction, Request, Response } from "express";\n`,
  hono: `import { HTTPException } from "hono/http-exception";\n`,
};

async function httpSteps(app: Application, limitsFile: string): Promise<string[]> {
  const isTyped = app.extension === "ts";
  const host = (["express", "hono", "fastify"] as const).find((name) => app.packages.has(name));
  const more = host === "express" && !isTyped ? "" : (MORE_IMPORTS[host ?? "response"] ?? "");
  const server = await findSource(app.root, app.sources, /\b(express|fastify|new Hono)\s*[(<]/i);
  const from = server ?? limitsFile;
  const imports =
    more +
    importText("trpc-rate-limit/server", ["ipKey", "rateLimitHeaders", "rateLimitResponse"]) +
    `\n${importText(specifierOf(app.imports, from, limitsFile), ["limiter"])}`;
  return [
    withLines(
      app,
      `limit a handler${server === undefined ? "" : `, as in ${server}`} (docs/http.md of trpc-rate-limit has more)`,
      `${imports}\n\n${HANDLERS[host ?? "response"](isTyped)}`,
    ),
    withLines(
      app,
      "show the countdown in the client, which knows from the answer when to try again",
      `const response = await fetch("/posts", { method: "POST", body });
if (response.status === 429) {
  const { retryAfter } = await response.json(); // milliseconds
}`,
    ),
  ];
}

export const DOCTOR_STEP = "npx trpc-rate-limit doctor, which checks the database and the table";
