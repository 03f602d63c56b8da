/** The client of tRPC that `init` wires, or the lines that it prints for that client. */
import { describe, expect, it } from "vitest";
import { initIn, runInit } from "../../../support/run-init.js";
import { makeFolder } from "../../../support/scaffold.js";
import { application, EXPRESS, type Files } from "../../../support/trpc-applications.js";

const withClient = (files: Files): Files => {
  const all = { ...application(EXPRESS), ...files };
  if (!("src/client.tsx" in files)) delete all["src/client.tsx"];
  return all;
};

const planned = (files: Files) => initIn(withClient(files));

const ROUTER = `import type { AppRouter } from "./router";\n`;
const LINKS = `[httpBatchLink({ url: "/trpc", transformer: superjson })]`;

describe("the client of the hooks is wired", () => {
  it("that polls, where it sends a token: its subscriptions would have none", async () => {
    await using app = await planned({
      "src/client.tsx": application(EXPRESS)["src/client.tsx"]!.replace(
        `url: "/trpc"`,
        `url: "/trpc", headers: () => ({ authorization: token() })`,
      ),
    });
    expect(app.printed).not.toMatch(/^By hand/m);
    expect(app.printed.match(/The client in src\/client\.tsx sends headers/g)).toHaveLength(1);
    const client = await app.read("src/client.tsx");
    expect(client).toContain('<RateLimitProvider client={client} live="poll">');
    expect(client).not.toMatch(/splitLink|httpSubscriptionLink/);
  });

  it("before another client of the same package, with the type of the router that it lacks", async () => {
    await using app = await planned({
      "src/a/plain.ts": `import { createTRPCClient, httpLink } from "@trpc/client";
${ROUTER.replace("./", "../")}export const plain = createTRPCClient<AppRouter>({ links: [httpLink({ url: "/other" })] });
`,
      "src/hooks.ts": `import { createTRPCReact } from "@trpc/react-query";
${ROUTER}
export const trpc = createTRPCReact<AppRouter>();
`,
      "src/page/provider.tsx": `import { QueryClientProvider } from "@tanstack/react-query";
import { httpBatchLink } from "@trpc/client";
import { useState } from "react";
import { trpc } from "../hooks";

export function Provider(props: { children: React.ReactNode }) {
  const [queryClient] = useState(() => new QueryClient());
  const [api] = useState(() => trpc.createClient({ links: ${LINKS} }));
  return (
    <trpc.Provider client={api} queryClient={queryClient}>
      <QueryClientProvider client={queryClient}>
        {props.children}
      </QueryClientProvider>
    </trpc.Provider>
  );
}
`,
    });
    expect(app.printed).not.toMatch(/^By hand/m);
    expect(await app.read("src/a/plain.ts")).not.toContain("rateLimitLink");
    const provider = await app.read("src/page/provider.tsx");
    expect(provider).toContain(`import { type AppRouter } from "../router";`);
    expect(provider).toContain(`import { RateLimitProvider, trpc } from "../hooks";`);
    // Inside of both providers: the limits use the client of the queries.
    expect(provider).toContain(`      <QueryClientProvider client={queryClient}>
        <RateLimitProvider client={api}>{props.children}</RateLimitProvider>
      </QueryClientProvider>`);
    expect(await app.read("src/hooks.ts")).toContain("createRateLimitReact<AppRouter>()");
  });

  it("that gets its links from a variable", async () => {
    await using app = await planned({
      "src/client.tsx": `import { QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
${ROUTER}
const links = [httpBatchLink({ url: "/trpc" })];
export const client = createTRPCClient<AppRouter>({ links });

export const App = () => <QueryClientProvider client={queries}>hello</QueryClientProvider>;
`,
    });
    expect(app.printed).not.toMatch(/^By hand/m);
    const client = await app.read("src/client.tsx");
    expect(client).toContain('  false: httpBatchLink({ url: "/trpc" }),\n})];\n');
    expect(client).toContain("<RateLimitProvider client={client}>");
  });
});

describe("printed lines", () => {
  it("give hooks of createTRPCNext a client, which they are not", async () => {
    await using app = await planned({
      "src/utils/api.ts": `import { httpBatchLink } from "@trpc/client";
import { createTRPCNext } from "@trpc/next";
${ROUTER.replace("./", "../")}
export const api = createTRPCNext<AppRouter>({
  config() {
    return { links: ${LINKS} };
  },
  transformer: superjson,
});
`,
      "src/pages/_app.tsx": `import { api } from "../utils/api";

const App = ({ Component, pageProps }) => <Component {...pageProps} />;

export default api.withTRPC(App);
`,
    });
    expect(await app.read("src/utils/api.ts")).toContain(
      "rateLimitLink<AppRouter>({ limits: {} }),",
    );
    const lines = app.printed.slice(app.printed.indexOf("By hand, in src/pages/_app.tsx"));
    expect(lines).toContain(`    import { RateLimitProvider, api } from "../utils/api";

    // In a component below withTRPC:
    const trpcClient = api.useUtils().client;

    // Around the application:
    <RateLimitProvider client={trpcClient}>{children}</RateLimitProvider>`);
  });

  it("have the URL, the transformer and the settings of the application's own link", async () => {
    const client = application(EXPRESS)["src/client.tsx"]!.replace(
      /links: \[.*?\)\]/,
      `links: [
    httpBatchLink({
      url: base() + "/trpc",
      transformer: superjson,
      maxURLLength: 2083,
    }),
  ]`,
    );
    const files = withClient({ "src/client.tsx": client });
    // The file of tRPC has no known form, so all that comes after it is app.printed.
    files["src/trpc.ts"] = files["src/trpc.ts"]!.replace(
      "export const t =",
      "export const t = () =>",
    );
    await using app = await makeFolder(files);
    const lines = (await runInit(app.root)).replace(/^ {4}/gm, "");
    expect(await app.read("src/client.tsx")).toBe(client);
    expect(lines).toContain(`import { httpSubscriptionLink, splitLink } from "@trpc/client";`);
    expect(lines).toContain(`// In the links, in place of httpBatchLink:
// Names the limit of each mutation, such as "post.create": "createPost".
rateLimitLink<AppRouter>({ limits: {} }),
splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({
    transformer: superjson,
    url: base() + "/trpc",
  }),
  false: httpBatchLink({
    url: base() + "/trpc",
    transformer: superjson,
    maxURLLength: 2083,
  }),
}),`);
  });

  it("are a whole client, where none was found", async () => {
    await using app = await planned({});
    const lines = app.printed.slice(app.printed.indexOf("By hand")).replace(/^ {4}/gm, "");
    expect(lines).toContain("By hand, in the file of your tRPC client (it was not found)");
    expect(lines).toContain(
      "export const trpcClient = createTRPCClient<AppRouter>({\n  links: [\n",
    );
    expect(lines).toContain(`import type { AppRouter } from "./router";`);
    for (const name of ["createTRPCClient", "httpBatchLink", "httpSubscriptionLink", "splitLink"]) {
      expect(lines.slice(0, lines.indexOf("export const trpcClient"))).toContain(name);
    }
    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
  });
});
