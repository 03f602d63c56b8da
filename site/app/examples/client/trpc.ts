/** The client that the examples import. Its server is in a worker of the example. */
import { QueryClient } from "@tanstack/react-query";
import { createTRPCClient } from "@trpc/client";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { rateLimitLink } from "trpc-rate-limit/client";
import { portLink } from "../../port-link.js";
import type { AppRouter } from "../server.js";

// The server is in the page, so it answers a visitor who is offline, too.
export const queryClient = new QueryClient({
  defaultOptions: { queries: { networkMode: "always" }, mutations: { networkMode: "always" } },
});

export const trpcClient = createTRPCClient<AppRouter>({
  links: [
    rateLimitLink({ limits: { send: "sendMessage" } }),
    portLink(new Worker(new URL("../worker.ts", import.meta.url), { type: "module" })),
  ],
});

export const trpc = createTRPCOptionsProxy<AppRouter>({ client: trpcClient, queryClient });
