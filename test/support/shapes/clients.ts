/** Clients beside an options proxy, which is no client, in a browser and in Expo. */
import { application, EXPRESS } from "../trpc-applications.js";
import { honoWorkspace } from "./hono-workspace.js";
import { json, WITH_ALIAS } from "./parts.js";
import type { Files, Shape } from "./shape.js";

const PROVIDER = `
export const App = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);
`;
const IMPORTS = `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { ReactNode } from "react";
import type { AppRouter } from "./router";

export const queryClient = new QueryClient();
`;
const SEPARATE = `${IMPORTS}
const trpcClient = createTRPCClient<AppRouter>({
  links: [httpBatchLink({ url: "/trpc" })],
});

export const trpc = createTRPCOptionsProxy<AppRouter>({ client: trpcClient, queryClient });
${PROVIDER}`;
const INSIDE = `${IMPORTS}
export const trpc = createTRPCOptionsProxy<AppRouter>({
  queryClient,
  client: createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: "/trpc" })],
  }),
});
${PROVIDER}`;

const withClient = (client: string): Files =>
  application({
    ...EXPRESS,
    packages: ["@tanstack/react-query", "@trpc/tanstack-react-query", "express"],
    more: { "src/client.tsx": client },
  });

export const OPTIONS_PROXIES: readonly Shape[] = [
  {
    name: "an options proxy beside its client",
    files: withClient(SEPARATE),
    right: {
      written: {
        "src/client.tsx": [
          "rateLimitLink<AppRouter>({ limits: {} })",
          "<RateLimitProvider client={trpcClient}>",
        ],
      },
      never: ["client={trpc}"],
    },
  },
  {
    name: "an options proxy that has its client inside",
    files: withClient(INSIDE),
    right: {
      // In the file or in the lines for it: the client has to get a name first.
      handled: ["src/client.tsx"],
      never: ["client={trpc}"],
    },
  },
];

/** The hooks are in one file, and the links in the file of the provider. */
export const SPLIT_CLIENT: Shape = {
  name: "hooks of tRPC in one file, and their links in another one",
  files: application({
    ...EXPRESS,
    packages: ["@tanstack/react-query", "@trpc/react-query", "express", "superjson"],
    more: {
      "src/client.tsx": `import { createTRPCReact } from "@trpc/react-query";
import type { AppRouter } from "./router";

export const trpc = createTRPCReact<AppRouter>();
`,
      "src/url.ts": "export const urlOf = (path: string) => new URL(path, location.href).href;\n",
      "src/provider.tsx": `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { httpBatchLink } from "@trpc/client";
import { type ReactNode, useState } from "react";
import superjson from "superjson";
import { trpc } from "./client";
import { urlOf } from "./url";

export function TrpcProvider(props: { children: ReactNode }) {
  const [queryClient] = useState(() => new QueryClient());
  const [trpcClient] = useState(() =>
    trpc.createClient({
      links: [httpBatchLink({ url: urlOf("/trpc"), transformer: superjson })],
    }),
  );
  return (
    <trpc.Provider client={trpcClient} queryClient={queryClient}>
      <QueryClientProvider client={queryClient}>{props.children}</QueryClientProvider>
    </trpc.Provider>
  );
}
`,
    },
  }),
  right: {
    handled: ["src/provider.tsx"],
    // The lines have the transformer and the URL that are there.
    somewhere: [
      "rateLimitLink<AppRouter>({",
      /httpSubscriptionLink\(\{\s*(?:url: urlOf\("\/trpc"\),\s*)?transformer: superjson/,
      "<RateLimitProvider client={trpcClient}>",
    ],
    never: ["{ transformer, url }", "client={trpc}"],
  },
};

export const EXPO: Shape = {
  name: "an application of Expo and one in a browser, on one API",
  files: {
    ...honoWorkspace(),
    "apps/native/package.json": json({
      name: "native",
      main: "expo-router/entry",
      dependencies: {
        "@depot/api": "workspace:*",
        "@tanstack/react-query": "^5.90.0",
        "@trpc/client": "^11.8.0",
        "@trpc/tanstack-react-query": "^11.8.0",
        expo: "^54.0.0",
        react: "^19.1.0",
        "react-native": "0.81.0",
      },
    }),
    "apps/native/tsconfig.json": json({ compilerOptions: { paths: { "@/*": ["./*"] } } }),
    "apps/native/utils/trpc.ts": `import type { AppRouter } from "@depot/api/routers/index";
import { QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { savedCookie } from "./cookie";

export const queryClient = new QueryClient();

const trpcClient = createTRPCClient<AppRouter>({
  links: [
    httpBatchLink({
      url: \`\${process.env.EXPO_PUBLIC_SERVER_URL}/trpc\`,
      headers: () => ({ Cookie: savedCookie() }),
    }),
  ],
});

export const trpc = createTRPCOptionsProxy<AppRouter>({ client: trpcClient, queryClient });
`,
    "apps/native/utils/cookie.ts": `export const savedCookie = () => "user=1";\n`,
    "apps/native/app/_layout.tsx": `import { QueryClientProvider } from "@tanstack/react-query";
import { Stack } from "expo-router";
import { queryClient } from "@/utils/trpc";

export default function Layout() {
  return (
    <QueryClientProvider client={queryClient}>
      <Stack />
    </QueryClientProvider>
  );
}
`,
    "apps/web/package.json": json({
      name: "web",
      type: "module",
      dependencies: {
        "@depot/api": "workspace:*",
        "@tanstack/react-query": "^5.90.0",
        "@trpc/client": "^11.8.0",
        react: "^19.1.0",
      },
    }),
    "apps/web/tsconfig.json": WITH_ALIAS,
    "apps/web/src/main.tsx": SEPARATE.replace("./router", "@depot/api/routers/index")
      .replace(/^import \{ createTRPCOptionsProxy.*\n/m, "")
      .replace(/^export const trpc = .*\n\n/m, ""),
  },
  right: {
    written: {
      "apps/native/utils/trpc.ts": ["export const trpcClient", "useCountdown"],
      "apps/native/app/_layout.tsx": ['<RateLimitProvider client={trpcClient} live="poll">'],
      "apps/web/src/main.tsx": [
        "httpSubscriptionLink({",
        "<RateLimitProvider client={trpcClient}>",
      ],
    },
    // Each kind of page has a countdown of its own.
    printed: ["const seconds = useCountdown(status?.retryAt)", "<RateLimitCountdown retryAt="],
    never: ["client={trpc}"],
  },
};
