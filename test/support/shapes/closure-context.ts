/** A context with three makers, one of them a function inside of the handler. */
import { packageJson } from "../trpc-applications.js";
import { POOL, WITH_ALIAS } from "./parts.js";
import type { Shape } from "./shape.js";

const ROUTE = "src/app/api/trpc/[trpc]/route.ts";

export const CLOSURE_CONTEXT: Shape = {
  name: "a context that the handler, pages on the server and tests make",
  files: {
    "package.json": packageJson("@trpc/server", "@trpc/react-query", "next", "pg", "react", "zod"),
    "tsconfig.json": WITH_ALIAS,
    "src/lib/db.ts": POOL,
    "src/lib/session.ts": `export async function userOf(cookies: { get(name: string): { value: string } | undefined }) {
  const id = cookies.get("user")?.value;
  return id === undefined ? undefined : { id };
}
`,
    "src/trpc/context.ts": `export type Context = {
  user?: { id: string };
  locale?: string;
};
`,
    "src/trpc/trpc.ts": `import { initTRPC } from "@trpc/server";
import type { Context } from "./context";

const t = initTRPC.context<Context>().create();

export const router = t.router;

export const publicProcedure = t.procedure;
`,
    "src/trpc/routers/index.ts": `import { publicProcedure, router } from "../trpc";

export const appRouter = router({ hello: publicProcedure.query(() => "hello") });

export type AppRouter = typeof appRouter;
`,
    [ROUTE]: `import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import type { NextRequest } from "next/server";
import { userOf } from "@/lib/session";
import type { Context } from "@/trpc/context";
import { appRouter } from "@/trpc/routers";

const localeOf = (request: NextRequest) => request.nextUrl.locale;

const handler = async (req: NextRequest) => {
  const user = await userOf(req.cookies);
  return fetchRequestHandler({
    endpoint: "/api/trpc",
    req,
    router: appRouter,
    createContext: async () => {
      return {
        user,
        locale: localeOf(req),
      } satisfies Context;
    },
  });
};

export { handler as GET, handler as POST };
`,
    "src/trpc/page-helpers.ts": `import "server-only";
import { createServerSideHelpers } from "@trpc/react-query/server";
import { cookies } from "next/headers";
import { cache } from "react";
import { userOf } from "@/lib/session";
import type { Context } from "./context";
import { appRouter } from "./routers";

export const pageHelpers = cache(async () =>
  createServerSideHelpers({
    router: appRouter,
    ctx: { user: await userOf(await cookies()) } satisfies Context,
  }),
);
`,
    "src/trpc/caller-for-tests.ts": `import type { Context } from "./context";
import { appRouter } from "./routers";

export function callerOf(id: string) {
  const context: Context = { user: { id } };
  return appRouter.createCaller(context);
}
`,
  },
  right: {
    written: {
      // A field that is required would break the two other makers.
      "src/trpc/context.ts": ["address?: string | undefined"],
      [ROUTE]: [
        "createContext: async () => {",
        "address: clientAddress(req.headers)",
        "responseMeta: rateLimitResponseMeta",
      ],
      "src/trpc/trpc.ts": ["ctx.user ? `user:${ctx.user.id}` : ipKey(ctx.address)"],
    },
    untouched: ["src/trpc/page-helpers.ts", "src/trpc/caller-for-tests.ts"],
    // It would hide the request of Next, which `localeOf` takes.
    never: [/\(\{ req \}\) =>/],
  },
};
