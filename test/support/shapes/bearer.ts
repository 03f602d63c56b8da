/** Clients that say who they are in a header, which no event stream sends. */
import { application, EXPRESS } from "../trpc-applications.js";
import type { Shape } from "./shape.js";

const CONTEXT = `import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";
import { pool } from "./db";

export function createContext({ req }: CreateExpressContextOptions) {
  return { pool, userId: req.headers.authorization?.split(" ")[1] };
}

export type Context = Awaited<ReturnType<typeof createContext>>;
`;

const client = (
  headers: string,
) => `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import type { ReactNode } from "react";
import type { AppRouter } from "./router";
import { accessToken } from "./token";

const queries = new QueryClient();

export const trpcClient = createTRPCClient<AppRouter>({
  links: [
    httpBatchLink({
      url: "https://api.example.com/trpc",
      ${headers}
    }),
  ],
});

export const App = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={queries}>{children}</QueryClientProvider>
);
`;

/** A client whose headers are a property of its provider, where pages put a token. */
const PROVIDER = `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { httpBatchLink } from "@trpc/client";
import { createTRPCReact } from "@trpc/react-query";
import { type ReactNode, useMemo, useState } from "react";
import type { AppRouter } from "./router";

export const trpc = createTRPCReact<AppRouter>();

export function TrpcProvider(props: { children: ReactNode; headers?: Record<string, string> }) {
  const { headers } = props;
  const [queryClient] = useState(() => new QueryClient());
  const trpcClient = useMemo(
    () => trpc.createClient({ links: [httpBatchLink({ url: "/trpc", headers })] }),
    [headers],
  );
  return (
    <trpc.Provider client={trpcClient} queryClient={queryClient}>
      <QueryClientProvider client={queryClient}>{props.children}</QueryClientProvider>
    </trpc.Provider>
  );
}
`;

const CLIENTS = {
  "an awaited token": client(`async headers() {
        const token = await accessToken();
        const headers: Record<string, string> = {};
        if (token) headers.Authorization = \`Bearer \${token}\`;
        return headers;
      },`),
  "a token of a variable": client(
    'headers: () => ({ authorization: `Bearer ${localStorage.getItem("token")}` }),',
  ),
  "headers of its provider": PROVIDER,
};

export const BEARERS: readonly Shape[] = Object.entries(CLIENTS).map(([what, text]) => ({
  name: `a client that sends ${what}, and no cookie`,
  files: application({
    ...EXPRESS,
    packages: ["@tanstack/react-query", "@trpc/react-query", "express"],
    context: CONTEXT,
    more: {
      "src/client.tsx": text,
      "src/token.ts": `export const accessToken = async () => localStorage.getItem("token");\n`,
    },
  }),
  right: {
    written: {
      "src/trpc.ts": ["ctx.userId ? `user:${ctx.userId}` : ipKey(ctx.address)"],
      // A stream that does not say who asks shows the limits of a visitor.
      "src/client.tsx": ["rateLimitLink<AppRouter>", /live="poll"|connectionParams/],
    },
    never: [/httpSubscriptionLink\(\{(?![\s\S]{0,300}connectionParams)/],
  },
}));
