/** Pages of Next, with the context in the file of `initTRPC`. */
import { packageJson } from "../trpc-applications.js";
import { POOL, WITH_ALIAS } from "./parts.js";
import type { Files, Shape } from "./shape.js";

/** Pages of Next, where an inner function makes the context for tests, too. */
const PAGES: Files = {
  "package.json": packageJson("@trpc/server", "next", "pg", "react", "zod"),
  "tsconfig.json": WITH_ALIAS,
  "src/server/db.ts": POOL,
  "src/server/session.ts": `import type { IncomingMessage } from "node:http";

export type Session = { user: { id: string } };

export async function sessionOf({ req }: { req: IncomingMessage }): Promise<Session | null> {
  return req.headers.cookie === undefined ? null : { user: { id: req.headers.cookie } };
}
`,
  "src/server/api/root.ts": `import { createTRPCRouter, publicProcedure } from "@/server/api/trpc";

export const appRouter = createTRPCRouter({
  whoAmI: publicProcedure.query(({ ctx }) => ctx.session?.user.id),
});

export type AppRouter = typeof appRouter;
`,
  "src/pages/api/trpc/[trpc].ts": `import { createNextApiHandler } from "@trpc/server/adapters/next";
import { appRouter } from "@/server/api/root";
import { createTRPCContext } from "@/server/api/trpc";

export default createNextApiHandler({ router: appRouter, createContext: createTRPCContext });
`,
};

const trpcWith = (
  options: string,
  returned: string,
  passed: string,
  imports = "",
) => `import { initTRPC } from "@trpc/server";
import type { CreateNextContextOptions } from "@trpc/server/adapters/next";
${imports}import { pool } from "@/server/db";
import { type Session, sessionOf } from "@/server/session";

type InnerOptions = {
  session: Session | null;
${options}};

export const createInnerContext = (opts: InnerOptions) => {
  return {
    session: opts.session,
${returned}    pool,
  };
};

export const createTRPCContext = async (opts: CreateNextContextOptions) => {
  const { req } = opts;
  const session = await sessionOf({ req });
  return createInnerContext({ session${passed} });
};

const t = initTRPC.context<typeof createTRPCContext>().create();

export const createTRPCRouter = t.router;

export const publicProcedure = t.procedure;
`;

export const INNER_CONTEXT: Shape = {
  name: "a context that an inner function makes, in the file of tRPC",
  files: {
    ...PAGES,
    "src/server/api/trpc.ts": trpcWith("", "", ""),
    "src/server/api/caller-for-tests.ts": `import { appRouter } from "./root";
import { createInnerContext } from "./trpc";

export const caller = appRouter.createCaller(createInnerContext({ session: null }));
`,
  },
  right: {
    handled: ["src/server/api/trpc.ts", "src/server/api/root.ts", "src/pages/api/trpc/[trpc].ts"],
    somewhere: [
      "address: clientAddress(req.headers, { connection: req.socket.remoteAddress })",
      "ctx.session?.user ? `user:${ctx.session.user.id}` : ipKey(ctx.address)",
    ],
    untouched: ["src/server/api/caller-for-tests.ts"],
  },
};

const WITH_FIELDS = `import { createNextApiHandler } from "@trpc/server/adapters/next";
import { appRouter } from "@/server/api/root";
import { createTRPCContext } from "@/server/api/trpc";

export default createNextApiHandler({
  router: appRouter,
  createContext: createTRPCContext,
  responseMeta() {
    return { headers: { "x-build": process.env.BUILD_ID ?? "" } };
  },
});
`;

export const NODE_HEADERS: Shape = {
  name: "a context with the headers of Node.js, and a client that is a set of hooks",
  files: {
    ...PAGES,
    "package.json": packageJson(
      "@trpc/client",
      "@trpc/next",
      "@trpc/server",
      "next",
      "pg",
      "react",
    ),
    "src/server/api/trpc.ts": trpcWith(
      "  headers: IncomingHttpHeaders;\n",
      "    headers: opts.headers,\n",
      ", headers: req.headers",
      `import type { IncomingHttpHeaders } from "node:http";\n`,
    ),
    "src/pages/api/trpc/[trpc].ts": WITH_FIELDS,
    "src/utils/api.ts": `import { httpBatchLink } from "@trpc/client";
import { createTRPCNext } from "@trpc/next";
import type { AppRouter } from "@/server/api/root";

export const api = createTRPCNext<AppRouter>({
  config() {
    return { links: [httpBatchLink({ url: "/api/trpc" })] };
  },
});
`,
    "src/pages/_app.tsx": `import type { AppType } from "next/app";
import { api } from "@/utils/api";

const App: AppType = ({ Component, pageProps }) => <Component {...pageProps} />;

export default api.withTRPC(App);
`,
  },
  right: {
    written: {
      "src/server/api/trpc.ts": ["ipKey(clientAddress(ctx.headers))"],
    },
    handled: ["src/utils/api.ts"],
    untouched: ["src/pages/api/trpc/[trpc].ts"],
    printed: [
      // The handler has fields of its own, which stay.
      /By hand, in src\/pages\/api\/trpc\/\[trpc\]\.ts/,
      "rateLimitResponseMeta(",
      /By hand, in src\/pages\/_app\.tsx/,
      /<RateLimitProvider client=\{/,
    ],
    // Headers of Node.js have no `get`, and hooks are no client.
    never: ["headers.get(", "headers: Headers", "client={api}"],
  },
};
